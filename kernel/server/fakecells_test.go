package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	release *releasing             // ends the waiting cell
	answers map[uint64]chan string // by the ids of questions
	lastID  uint64
	comms   []cellproto.Comm
	latest  string        // data of a comm
	holds   chan struct{} // ends a call of functions; nil: it ends at once
	ended   string        // the first of Close and Kill that was called
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

// releasing ends a waiting cell, once.
type releasing struct {
	closed chan struct{}
	reason string // written before closed is closed
}

func newRelease() *releasing { return &releasing{closed: make(chan struct{})} }

// waits returns the release of a cell, and an open question.
func (f *fakeCells) waits() (r *releasing, id uint64, answer chan string) {
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

func (f *fakeCells) Begin(r cellproto.Request, sink, answer func(cellproto.Event)) error {
	sink(cellproto.Event{Type: cellproto.Begun})
	go func() {
		done := cellproto.Event{Type: cellproto.Done}
		if r.Follow {
			f.follow(sink)
		}
		for command := range strings.Lines(r.Code) {
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

// talk keeps comms with the target "kept" and closes others. A message with the data "go"
// asks for a call of the functions.
func (f *fakeCells) talk(c cellproto.Comm) (done cellproto.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := slices.ContainsFunc(f.comms, func(k cellproto.Comm) bool { return k.ID == c.ID })
	switch {
	case c.Target == "kept":
		f.comms = append(f.comms, c)
	case c.Type == "comm_msg" && known:
		f.latest, done.Follow = string(c.Data), strings.Contains(string(c.Data), "go")
		done.Comms = []cellproto.Comm{c}
	case c.Type != "comm_close":
		done.Comms = []cellproto.Comm{{Type: "comm_close", ID: c.ID, Data: json.RawMessage("{}")}}
	}
	return done
}

// follow shows the latest data of a comm, and then waits for holds.
func (f *fakeCells) follow(sink func(cellproto.Event)) {
	f.mu.Lock()
	latest, holds := f.latest, f.holds
	f.mu.Unlock()
	sink(cellproto.Event{Type: cellproto.Display, Data: map[string]any{"text/plain": latest}, Display: "d", Update: true})
	if holds != nil {
		f.running <- struct{}{}
		<-holds
	}
}

func (f *fakeCells) Ask(ctx context.Context, r cellproto.Request) (cellproto.Event, error) {
	switch r.Type {
	case cellproto.CommMessage:
		return f.talk(*r.Comm), nil
	case cellproto.AskComms:
		f.mu.Lock()
		defer f.mu.Unlock()
		return cellproto.Event{Comms: f.comms}, nil
	}
	if r.Type == cellproto.Complete {
		return f.complete(ctx, r.Code, r.Cursor)
	}
	if r.Type == cellproto.Debug {
		var request struct{ Command string }
		if err := json.Unmarshal([]byte(r.Text), &request); err != nil {
			return cellproto.Event{}, err
		}
		switch request.Command {
		case "disconnect":
			f.running <- struct{}{}
		case "hold":
			f.running <- struct{}{}
			<-f.holds
		}
		if request.Command == "nonsense" || request.Command == "" {
			return cellproto.Event{Text: request.Command}, nil
		}
		return cellproto.Event{Text: `{"request":"` + request.Command + `"}`}, nil
	}
	if r.Type == cellproto.AskUsage {
		return cellproto.Event{Usage: &cellproto.Usage{PID: 42, Memory: 1 << 20, CPU: 12.5, Goroutines: 7}}, nil
	}
	e, err := f.inspect(ctx, r.Code, r.Cursor)
	if r.Detail > 0 {
		e.Data["text/plain"] = fmt.Sprint(e.Data["text/plain"], ", its source")
	}
	return e, err
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
