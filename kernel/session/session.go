// Package session starts, drives, interrupts and kills the cells program, the
// child process in which the Go of a notebook runs. The runner and the Jupyter
// server are its two clients.
//
// It knows nothing of notebooks, sockets, execution counts or history, and it
// never runs user code: whatever a cell does to its process, a Session answers
// and can run the next cell.
package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warpbook/kernel/frame"
)

// closeGrace is how long Close waits for the program to end by itself.
const closeGrace = time.Second

// Config says what to start, and where output goes that belongs to no running
// request.
type Config struct {
	Program string   // path of the cells program
	Dir     string   // its working directory
	Env     []string // its environment; nil: that of this process

	// OutputBytes is how much of a cell's streams is delivered; 0 is no limit.
	// The rest goes to a temporary file that a notice names.
	OutputBytes int64

	// Late, if set, receives events that belong to no running request: output
	// of goroutines and subprocesses that outlive their cell. The number is
	// that of the cell that the output belongs to, 0 before the first. Like a
	// sink, it must not block.
	Late func(cell int, e frame.Event)

	// Logf, if set, receives what only a developer wants to know.
	Logf func(format string, args ...any)
}

// Session is one cells program after another: when one has ended, the next
// request starts a fresh one. Its methods may be called from any goroutine.
type Session struct {
	config Config
	lastID atomic.Uint64

	current atomic.Pointer[child] // replaced only with mu held
	mu      sync.Mutex            // guards closed, and the replacing of current
	closed  bool
}

// Start starts a cells program. It does not wait until the program is ready;
// requests may be made at once.
func Start(config Config) (*Session, error) {
	if config.Logf == nil {
		config.Logf = func(string, ...any) {}
	}
	if config.Late == nil {
		config.Late = func(int, frame.Event) {}
	}
	s := &Session{config: config}
	c, err := startChild(&s.config)
	if err != nil {
		return nil, err
	}
	s.current.Store(c)
	return s, nil
}

// Execute runs code as the cell of that number and returns the Done event that
// answers it. Before it returns, sink has received the other events of the
// cell in order, one at a time, the first of them Begun; sink must not block and
// must not wait for another method of the Session. Cells of overlapping calls run at once: a
// caller that wants one after the other waits.
//
// When ctx is cancelled everything that runs is interrupted, and Execute still
// waits for its answer: a caller that loses patience calls Kill. When the
// program ends under the cell, the answer's Error names the reason.
func (s *Session) Execute(ctx context.Context, code string, cell int, sink func(frame.Event)) (frame.Event, error) {
	r := frame.Request{Type: frame.Execute, Code: code, Cell: cell}
	answered := make(chan frame.Event, 1)
	c, _, err := s.send(r, sink, func(e frame.Event) { answered <- e })
	if err != nil {
		return frame.Event{}, err
	}
	select {
	case e := <-answered:
		return e, nil
	case <-ctx.Done():
		c.post(frame.Request{ID: s.lastID.Add(1), Type: frame.Interrupt})
		return <-answered, nil
	}
}

// Begin is Execute for who does not wait: unless it returns an error, answer gets
// the Done event, after sink has got the others. It must not block or wait for
// another method of the Session either.
func (s *Session) Begin(code string, cell int, sink, answer func(frame.Event)) error {
	_, _, err := s.send(frame.Request{Type: frame.Execute, Code: code, Cell: cell}, sink, answer)
	return err
}

// Complete asks for the completions of code at cursor, an offset in code points.
func (s *Session) Complete(ctx context.Context, code string, cursor int) (frame.Event, error) {
	return s.ask(ctx, frame.Request{Type: frame.Complete, Code: code, Cursor: cursor})
}

// Inspect asks what stands in code at cursor, an offset in code points.
func (s *Session) Inspect(ctx context.Context, code string, cursor int) (frame.Event, error) {
	return s.ask(ctx, frame.Request{Type: frame.Inspect, Code: code, Cursor: cursor})
}

// ask makes a request that nobody waits for once ctx is cancelled.
func (s *Session) ask(ctx context.Context, r frame.Request) (frame.Event, error) {
	answered := make(chan frame.Event, 1)
	c, call, err := s.send(r, nil, func(e frame.Event) { answered <- e })
	if err != nil {
		return frame.Event{}, err
	}
	select {
	case e := <-answered:
		return e, nil
	case <-ctx.Done():
		c.forget(call)
		return frame.Event{}, fmt.Errorf("session: %s: %w", r.Type, ctx.Err())
	}
}

// Interrupt asks the program to stop the cells that run. It does not wait.
func (s *Session) Interrupt() {
	s.current.Load().post(frame.Request{ID: s.lastID.Add(1), Type: frame.Interrupt})
}

// Reply answers the Input event of that ID with the line that the user typed.
func (s *Session) Reply(id uint64, text string) {
	s.current.Load().post(frame.Request{ID: id, Type: frame.Reply, Text: text})
}

// Refuse answers the Input event of that ID with the reason why the user cannot
// be asked.
func (s *Session) Refuse(id uint64, reason string) {
	s.current.Load().post(frame.Request{ID: id, Type: frame.Reply, Error: reason})
}

// Kill ends the program and its subprocesses at once and does not wait. What
// runs is answered with an error, variables are gone, and the next request
// starts a fresh program.
func (s *Session) Kill() { s.current.Load().kill() }

// Close ends the program, by force if it does not end by itself, and returns
// when its processes, goroutines and descriptors are gone.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	c := s.current.Load()
	c.hangUp()
	select {
	case <-c.done:
	case <-time.After(closeGrace):
		c.kill()
		<-c.done
	}
	return nil
}

var errClosed = errors.New("session: closed")

// send hands a request to the live program, or to a fresh one.
func (s *Session) send(r frame.Request, sink, answer func(frame.Event)) (*child, *call, error) {
	r.ID = s.lastID.Add(1)
	call := &call{id: r.ID, sink: sink, answer: answer}
	for {
		c, err := s.live()
		if err != nil {
			return nil, nil, err
		}
		if c.send(r, call) {
			return c, call, nil
		} // it has ended between live and send
	}
}

// live returns the program that runs, after starting one if the last has ended.
func (s *Session) live() (*child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	c := s.current.Load()
	if !c.isEnding() {
		return c, nil
	}
	<-c.done
	fresh, err := startChild(&s.config)
	if err != nil {
		return nil, err
	}
	fresh.notice = c.farewell
	s.current.Store(fresh)
	return fresh, nil
}
