// Package cellproc starts, drives, interrupts and kills the cells program: the child
// process that runs the Go code of a notebook. Its main type is Client. The notebook
// runner and the Jupyter server are its two callers.
//
// It knows nothing of notebooks, sockets, execution counts or history, and must not
// import the packages that do, or the cell engine. It never runs user code: whatever a
// cell does to its process, a Client answers and can run the next cell.
package cellproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/processes"
	"warpbook/kernel/leaf/scratch"
)

// closeGrace is how long Close waits for the program to end by itself.
const closeGrace = time.Second

// Config describes the program to start, and the receiver of output that belongs to no
// running request.
type Config struct {
	Program string   // path of the cells program
	Dir     string   // its working directory
	Env     []string // its environment; nil: that of this process

	// Output is how much of a cell's streams is delivered. The rest goes to a temporary
	// file, which a notice names.
	Output Limit

	// KeepFiles keeps the files saved for the user (the rest of output, stacks of a
	// program that has ended) after the Client is closed, until the next Client starts.
	KeepFiles bool

	// Late, if set, receives events that belong to no running request: output of
	// goroutines and subprocesses that outlive their cell. The number is that of the
	// cell that the output belongs to, 0 before the first. Like a sink, Late must not
	// block.
	Late func(cell int, e cellproto.Event)

	// Logf, if set, receives messages for developers.
	Logf func(format string, args ...any)

	folder *scratch.Folder // for the session's files; nil if it could not be created
}

// environment returns the program's environment.
func (c *Config) environment() []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	if c.folder != nil {
		env = append(slices.Clip(env), scratch.Env+"="+c.folder.Path)
	}
	return env
}

// Client drives one cells program at a time: after one has ended, the next request
// starts a fresh one. Its methods may be called from any goroutine.
type Client struct {
	config Config
	lastID atomic.Uint64

	current atomic.Pointer[child] // replaced only while mu is held
	mu      sync.Mutex            // guards closed, and the replacement of current
	closed  bool
}

// Start starts a cells program. It does not wait until the program is ready;
// requests may be made at once.
func Start(config Config) (*Client, error) {
	if config.Logf == nil {
		config.Logf = func(string, ...any) {}
	}
	if config.Late == nil {
		config.Late = func(int, cellproto.Event) {}
	}
	go scratch.Sweep()
	folder, err := scratch.New()
	if err != nil {
		config.Logf("cellproc: %v", err) // a cell whose output needs the folder reports its absence
	}
	config.folder = folder
	s := &Client{config: config}
	c, err := startChild(&s.config)
	if err != nil {
		s.endFolder()
		return nil, err
	}
	s.current.Store(c)
	return s, nil
}

// Execute runs code as the cell with that number and returns its Done event. Before it
// returns, sink has received the other events of the cell in order, one at a time, the
// first of them Begun. sink must not block and must not call a method of the Client
// that waits. Overlapping calls run their cells at the same time: a caller that wants
// one after the other waits.
//
// When ctx is cancelled, everything that runs is interrupted, and Execute still waits
// for its answer: a caller that does not want to wait longer calls Kill. When the
// program ends during the cell, the answer's Error gives the reason.
func (s *Client) Execute(ctx context.Context, code string, cell int, sink func(cellproto.Event)) (cellproto.Event, error) {
	r := cellproto.Request{Type: cellproto.Execute, Code: code, Cell: cell}
	answered := make(chan cellproto.Event, 1)
	c, _, err := s.send(r, sink, func(e cellproto.Event) { answered <- e })
	if err != nil {
		return cellproto.Event{}, err
	}
	select {
	case e := <-answered:
		return e, nil
	case <-ctx.Done():
		c.interrupt(s.lastID.Add(1))
		return <-answered, nil
	}
}

// Begin runs the cell of a request as Execute does, without waiting: unless it returns an error, answer receives the
// Done event, after sink has received the other events. answer must not block, and must
// not call a method of the Client that waits.
func (s *Client) Begin(r cellproto.Request, sink, answer func(cellproto.Event)) error {
	r.Type = cellproto.Execute
	_, _, err := s.send(r, sink, answer)
	return err
}

// Ask makes a request that has no output and returns its Done event. It stops waiting
// when ctx is cancelled.
func (s *Client) Ask(ctx context.Context, r cellproto.Request) (cellproto.Event, error) {
	answered := make(chan cellproto.Event, 1)
	c, call, err := s.send(r, nil, func(e cellproto.Event) { answered <- e })
	if err != nil {
		return cellproto.Event{}, err
	}
	select {
	case e := <-answered:
		return e, nil
	case <-ctx.Done():
		c.forget(call)
		return cellproto.Event{}, fmt.Errorf("cellproc: %s: %w", r.Type, ctx.Err())
	}
}

// Interrupt asks the program to stop all running cells. It does not wait.
func (s *Client) Interrupt() {
	s.current.Load().interrupt(s.lastID.Add(1))
}

// Reply answers the Input event of that ID with the line that the user typed.
func (s *Client) Reply(id uint64, text string) {
	s.current.Load().post(cellproto.Request{ID: id, Type: cellproto.Reply, Text: text})
}

// Refuse answers the Input event of that ID with the reason why no answer can be read.
func (s *Client) Refuse(id uint64, reason string) {
	s.current.Load().post(cellproto.Request{ID: id, Type: cellproto.Reply, Error: reason})
}

// Kill ends the program and its subprocesses at once and does not wait. Running
// requests are answered with an error, variables are lost, and the next request starts
// a fresh program.
func (s *Client) Kill() { s.current.Load().kill() }

// Close ends the program, by force if it does not end by itself, and returns after its
// processes, goroutines and descriptors are gone.
func (s *Client) Close() error {
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
	if f := s.config.folder; f != nil {
		processes.KillMarked(scratch.Env + "=" + f.Path) // those in sessions and groups of their own
	}
	s.endFolder()
	return nil
}

// endFolder removes the session's files or, with KeepFiles, leaves them until the next
// session starts.
func (s *Client) endFolder() {
	switch folder := s.config.folder; {
	case folder == nil:
	case s.config.KeepFiles:
		folder.Leave()
	default:
		folder.Remove()
	}
}

var errClosed = errors.New("cellproc: closed")

// send sends a request to the running program, or to a fresh one.
func (s *Client) send(r cellproto.Request, sink, answer func(cellproto.Event)) (*child, *call, error) {
	r.ID = s.lastID.Add(1)
	call := &call{id: r.ID, sink: sink, answer: answer}
	for {
		c, err := s.live()
		if err != nil {
			return nil, nil, err
		}
		if c.send(r, call) {
			return c, call, nil
		} // the program has ended between live and send
	}
}

// live returns the running program, after starting one if the last has ended.
func (s *Client) live() (*child, error) {
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
