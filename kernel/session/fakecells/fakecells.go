// Package fakecells is a cells program for tests of those that drive one. Its
// cells are scripts, one command a line, a word and the rest as its argument;
// cell.do is the list. It runs no Go.
package fakecells

import (
	"bufio"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"warpbook/kernel/frame"
)

// Main serves the session that started this process and then ends it. A test
// binary that a session starts calls it from TestMain.
func Main() {
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	debug.SetCrashOutput(os.NewFile(5, "crash"), debug.CrashOptions{})
	f := &fake{
		requests: bufio.NewReader(os.NewFile(3, "requests")),
		events:   os.NewFile(4, "events"),
		stop:     make(chan struct{}, 1),
		replies:  make(chan frame.Request, 1),
		passed:   make(chan uint64, 1),
		gates:    map[string]chan struct{}{},
	}
	f.serve()
	os.Exit(0)
}

type fake struct {
	requests *bufio.Reader
	events   *os.File
	stop     chan struct{} // one value for each interrupt
	replies  chan frame.Request
	passed   chan uint64
	fence    sync.Mutex // held while passed is waited for

	mu    sync.Mutex
	gates map[string]chan struct{} // by name; guarded by mu
}

// gate is what one cell waits for and another opens, so that their order is no
// matter of time.
func (f *fake) gate(name string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gates[name] == nil {
		f.gates[name] = make(chan struct{})
	}
	return f.gates[name]
}

func (f *fake) serve() {
	f.emit(frame.Event{Type: frame.Ready})
	for {
		var r frame.Request
		if err := frame.Read(f.requests, &r); err != nil {
			return // the parent is gone
		}
		switch r.Type {
		case frame.Execute:
			go f.run(r)
		case frame.Interrupt:
			select {
			case f.stop <- struct{}{}:
			default:
			}
			f.emit(frame.Event{ID: r.ID, Type: frame.Done})
		case frame.Reply:
			f.replies <- r
		case frame.Passed:
			f.passed <- r.ID
		case frame.Complete:
			f.emit(frame.Event{ID: r.ID, Type: frame.Done, Start: r.Cursor, End: r.Cursor,
				Matches: []frame.Match{{Text: r.Code + "()", Kind: "function"}}})
		case frame.Inspect: // never answered
		}
	}
}

// emit is called by serve and by run, which runs several at once; one write a frame keeps frames whole.
func (f *fake) emit(e frame.Event) {
	if err := frame.Write(f.events, e); err != nil {
		os.Exit(9)
	}
}

func (f *fake) run(r frame.Request) {
	c := cell{fake: f, pipes: r.Pipes, done: frame.Event{ID: r.ID, Type: frame.Done}}
	for line := range strings.Lines(r.Code) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		c.do(word, rest)
		if c.done.Error != nil {
			break
		}
	}
	f.emit(c.done)
}
