//go:build cells

package main

import (
	"errors"
	"fmt"

	"warpbook/kernel/frame"
)

// input is how cells read from the user: by display.Ask, and by the functions
// of fmt that scan standard input, for which it is an io.Reader of lines.
type input struct {
	emit   func(frame.Event)
	asking func() *running // the cell that asks on this goroutine

	line []byte // what Read has still to give; guarded by the engine, which reads one at a time
}

// ask waits for the user's answer, or for an interrupt. A cell has one question
// open at a time.
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
	case <-x.answers: // of nothing that was asked
	default:
	}
	i.emit(frame.Event{ID: x.id, Type: frame.Input, Text: prompt, Password: secret})
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

// answer takes a reply for a cell that may have asked nothing or have ended.
func (i *input) answer(x *running, r frame.Request) {
	if x == nil {
		return
	}
	select {
	case x.answers <- r:
	default:
	}
}

// Read gives the user's lines, and asks for one when it has none.
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
