package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"warpbook/kernel/cellproto"
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

	mu      sync.Mutex             // guards the fields below
	release *release               // ends the waiting cell
	answers map[uint64]chan string // by the ids of questions
	lastID  uint64
	ended   string // the first of Close and Kill that was called
}

// ending is the call, Close or Kill, that ended the cells program.
func (f *fakeCells) ending() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// ends records the call, Close or Kill, and ends the waiting cell.
func (f *fakeCells) ends(call, reason string) {
	f.mu.Lock()
	if f.ended == "" {
		f.ended = call
	}
	f.mu.Unlock()
	f.end(reason)
}

func newFakeCells() *fakeCells {
	return &fakeCells{running: make(chan struct{}, 10), release: newRelease(), answers: map[uint64]chan string{}}
}

// release ends a waiting cell, once.
type release struct {
	closed chan struct{}
	reason string // written before closed is closed
}

func newRelease() *release { return &release{closed: make(chan struct{})} }

// waits returns the release of a cell, and an open question.
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

func (f *fakeCells) Begin(code string, cell int, sink, answer func(cellproto.Event)) error {
	sink(cellproto.Event{Type: cellproto.Begun})
	go func() {
		done := cellproto.Event{Type: cellproto.Done}
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

func (f *fakeCells) command(name, text string, sink func(cellproto.Event), done *cellproto.Event) *cellproto.Error {
	bundle := map[string]any{"text/plain": text}
	switch name {
	case "print":
		sink(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: text})
	case "complain":
		sink(cellproto.Event{Type: cellproto.Stream, Name: "stderr", Text: text})
	case "show", "update":
		sink(cellproto.Event{Type: cellproto.Display, Data: bundle, Display: "d", Update: name == "update"})
	case "clear":
		sink(cellproto.Event{Type: cellproto.Clear, Wait: true})
	case "ask", "secret":
		r, id, answer := f.waits()
		sink(cellproto.Event{ID: id, Type: cellproto.Input, Text: text, Password: name == "secret"})
		select {
		case text := <-answer:
			sink(cellproto.Event{Type: cellproto.Stream, Name: "stdout", Text: text})
		case <-r.closed:
			return &cellproto.Error{Name: r.reason, Value: "while asking"}
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
		return &cellproto.Error{Name: r.reason, Value: "while blocked", Traceback: []string{"line 1"}}
	case "fail":
		return &cellproto.Error{Name: "panic", Value: text, Traceback: []string{"a", "b"}}
	}
	return nil
}

func (f *fakeCells) Ask(ctx context.Context, r cellproto.Request) (cellproto.Event, error) {
	if r.Type == cellproto.Complete {
		return f.complete(ctx, r.Code, r.Cursor)
	}
	if r.Type == cellproto.AskUsage {
		return cellproto.Event{Usage: &cellproto.Usage{PID: 42, Memory: 1 << 20, CPU: 12.5, Goroutines: 7}}, nil
	}
	return f.inspect(ctx, r.Code, r.Cursor)
}

func (f *fakeCells) complete(_ context.Context, code string, cursor int) (cellproto.Event, error) {
	if code == "broken" {
		return cellproto.Event{}, errors.New("cellproc: closed")
	}
	return cellproto.Event{
		Matches: []cellproto.Match{{Text: "Println", Kind: "function", Type: "func(a ...any)"}},
		Start:   cursor - 1, End: cursor,
	}, nil
}

// inspect returns the code left of the cursor.
func (f *fakeCells) inspect(_ context.Context, code string, cursor int) (cellproto.Event, error) {
	left := string([]rune(code)[:cursor])
	if left == "nothing" || !utf8.ValidString(left) {
		return cellproto.Event{}, nil
	}
	return cellproto.Event{Data: map[string]any{"text/plain": "about " + left}}, nil
}

func (f *fakeCells) Interrupt()                      { f.end("interrupted") }
func (f *fakeCells) Kill()                           { f.ends("Kill", "killed") }
func (f *fakeCells) Close() error                    { f.ends("Close", "killed"); return nil }
func (f *fakeCells) Reply(id uint64, text string)    { f.answer(id, text) }
func (f *fakeCells) Refuse(id uint64, reason string) { f.answer(id, reason) }
