package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"warpbook/kernel/frame"
)

// fakeCells understands these commands, one a line of a cell:
//
//	print TEXT, complain TEXT   writes to stdout, stderr
//	show TEXT, update TEXT      a display and its update, both named d
//	clear                       clears the output, waiting
//	ask PROMPT, secret PROMPT   prints the answer
//	value TEXT                  the value of the cell
//	fail TEXT                   ends with an error
//	offer TEXT                  takes the place of the cell
//	sleep                       for 50 ms
//	block                       until interrupted or killed
type fakeCells struct {
	running chan struct{} // gets a value when block begins

	mu      sync.Mutex             // guards what follows
	release *release               // of what waits now
	answers map[uint64]chan string // by the ids of questions
	lastID  uint64
}

func newFakeCells() *fakeCells {
	return &fakeCells{running: make(chan struct{}, 10), release: newRelease(), answers: map[uint64]chan string{}}
}

// release ends what waits, once.
type release struct {
	closed chan struct{}
	reason string // written before closed is closed
}

func newRelease() *release { return &release{closed: make(chan struct{})} }

// waits returns what will end a cell, and an open question.
func (f *fakeCells) waits() (r *release, id uint64, answer chan string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastID++
	f.answers[f.lastID] = make(chan string, 10)
	return f.release, f.lastID, f.answers[f.lastID]
}

func (f *fakeCells) end(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release.reason = reason
	close(f.release.closed)
	f.release = newRelease()
}

func (f *fakeCells) answer(id uint64, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[id] <- text
}

func (f *fakeCells) Begin(code string, cell int, sink, answer func(frame.Event)) error {
	sink(frame.Event{Type: frame.Begun})
	go func() {
		done := frame.Event{Type: frame.Done}
		for command := range strings.Lines(code) {
			name, text, _ := strings.Cut(strings.TrimSpace(command), " ")
			if done.Error = f.command(name, text, sink, &done); done.Error != nil {
				break
			}
		}
		answer(done)
	}()
	return nil
}

func (f *fakeCells) command(name, text string, sink func(frame.Event), done *frame.Event) *frame.Error {
	bundle := map[string]any{"text/plain": text}
	switch name {
	case "print":
		sink(frame.Event{Type: frame.Stream, Name: "stdout", Text: text})
	case "complain":
		sink(frame.Event{Type: frame.Stream, Name: "stderr", Text: text})
	case "show", "update":
		sink(frame.Event{Type: frame.Display, Data: bundle, Display: "d", Update: name == "update"})
	case "clear":
		sink(frame.Event{Type: frame.Clear, Wait: true})
	case "ask", "secret":
		r, id, answer := f.waits()
		sink(frame.Event{ID: id, Type: frame.Input, Text: text, Password: name == "secret"})
		select {
		case text := <-answer:
			sink(frame.Event{Type: frame.Stream, Name: "stdout", Text: text})
		case <-r.closed:
			return &frame.Error{Name: r.reason, Value: "while asking"}
		}
	case "value":
		done.Data = bundle
	case "offer":
		done.Next = text
	case "sleep":
		time.Sleep(50 * time.Millisecond)
	case "block":
		r, _, _ := f.waits()
		f.running <- struct{}{}
		<-r.closed
		return &frame.Error{Name: r.reason, Value: "while blocked", Traceback: []string{"line 1"}}
	case "fail":
		return &frame.Error{Name: "panic", Value: text, Traceback: []string{"a", "b"}}
	}
	return nil
}

func (f *fakeCells) Complete(_ context.Context, code string, cursor int) (frame.Event, error) {
	if code == "broken" {
		return frame.Event{}, errors.New("session: closed")
	}
	return frame.Event{
		Matches: []frame.Match{{Text: "Println", Kind: "function", Type: "func(a ...any)"}},
		Start:   cursor - 1, End: cursor,
	}, nil
}

// Inspect knows what is left of the cursor.
func (f *fakeCells) Inspect(_ context.Context, code string, cursor int) (frame.Event, error) {
	left := string([]rune(code)[:cursor])
	if left == "nothing" || !utf8.ValidString(left) {
		return frame.Event{}, nil
	}
	return frame.Event{Data: map[string]any{"text/plain": "about " + left}}, nil
}

func (f *fakeCells) Interrupt()                      { f.end("interrupted") }
func (f *fakeCells) Kill()                           { f.end("killed") }
func (f *fakeCells) Close() error                    { return nil }
func (f *fakeCells) Reply(id uint64, text string)    { f.answer(id, text) }
func (f *fakeCells) Refuse(id uint64, reason string) { f.answer(id, reason) }
