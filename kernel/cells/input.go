//go:build cells

package main

import (
	"errors"
	"fmt"

	"warpbook/kernel/cellproto"
)

// input reads lines from the user, for display.Ask and for the functions of fmt that
// scan standard input, for which it is an io.Reader of lines.
type input struct {
	emit   func(cellproto.Event)
	asking func() *running // returns the cell that asks on this goroutine

	line []byte // data that Read has still to return; guarded by the engine, which allows one reader at a time
}

// ask waits for the user's answer, or for an interrupt. A cell has at most one open
// question.
func (i *input) ask(prompt string, secret bool) (string, error) {
	x := i.asking()
	if x == nil {
		return "", fmt.Errorf("display: ask: no cell runs that could ask, its goroutine has outlived it")
	}
	select {
	case x.asking <- struct{}{}:
		defer func() { <-x.asking }()
	case <-x.ctx.Done():
		return "", errInterrupted
	}
	select {
	case <-x.answers: // left from a withdrawn question
	default:
	}
	i.emit(cellproto.Event{ID: x.id, Type: cellproto.Input, Text: prompt, Password: secret})
	select {
	case r := <-x.answers:
		if r.Error != "" {
			return "", fmt.Errorf("display: ask: %s", r.Error)
		}
		return r.Text, nil
	case <-x.ctx.Done():
		return "", errInterrupted
	}
}

var errInterrupted = errors.New("display: ask: interrupted")

// answer delivers a reply to a cell, which may have no open question or have ended.
func (i *input) answer(x *running, r cellproto.Request) {
	if x == nil {
		return
	}
	select {
	case x.answers <- r:
	default:
	}
}

// Read returns the user's lines, and asks for a line when it has none.
func (i *input) Read(p []byte) (int, error) {
	if len(i.line) == 0 {
		line, err := i.ask("", false)
		if err != nil {
			return 0, err
		}
		i.line = append([]byte(line), '\n')
	}
	n := copy(p, i.line)
	i.line = i.line[n:]
	return n, nil
}
