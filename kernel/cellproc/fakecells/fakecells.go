// Package fakecells is a cells program for the tests of packages that drive one. Its
// cells are scripts, one command a line: a word and its argument. cell.do lists the
// commands. It runs no Go code.
package fakecells

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/release"
)

// VersionEnv is the variable with the version that the program says it is of, in place of
// this one.
const VersionEnv = "WARPBOOK_TEST_FAKE_VERSION"

// Main serves the Client that started this process and then ends the process. A test
// binary calls it from TestMain when a Client has started it.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == release.Flag {
		fmt.Println(name())
		os.Exit(0)
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	debug.SetCrashOutput(os.NewFile(5, "crash"), debug.CrashOptions{})
	f := &fake{
		requests: bufio.NewReader(os.NewFile(3, "requests")),
		events:   os.NewFile(4, "events"),
		stop:     make(chan struct{}, 1),
		replies:  make(chan cellproto.Request, 1),
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
	replies  chan cellproto.Request
	passed   chan uint64
	mute     atomic.Bool
	fence    sync.Mutex // held while a fence waits for Passed

	mu    sync.Mutex
	gates map[string]chan struct{} // by name; guarded by mu
}

// gate is opened by one cell and awaited by another, so that their order does not
// depend on timing.
func (f *fake) gate(name string) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gates[name] == nil {
		f.gates[name] = make(chan struct{})
	}
	return f.gates[name]
}

// name is that of this build, or the one of the test.
func name() string {
	if other, ok := os.LookupEnv(VersionEnv); ok {
		return other
	}
	return release.Name()
}

func (f *fake) serve() {
	f.emit(cellproto.Event{Type: cellproto.Ready, Text: name()})
	for {
		var r cellproto.Request
		if err := cellproto.Read(f.requests, &r); err != nil {
			return // the parent has ended
		}
		switch r.Type {
		case cellproto.Execute:
			go f.run(r)
		case cellproto.Interrupt:
			if f.mute.Load() {
				continue
			}
			select {
			case f.stop <- struct{}{}:
			default:
			}
			f.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done})
		case cellproto.Reply:
			f.replies <- r
		case cellproto.Passed:
			f.passed <- r.ID
		case cellproto.Complete:
			f.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Start: r.Cursor, End: r.Cursor,
				Matches: []cellproto.Match{{Text: r.Code + "()", Kind: "function"}}})
		case cellproto.Inspect: // never answered
		}
	}
}

// serve and the concurrent run goroutines call emit; each frame is one write, which
// keeps frames whole.
func (f *fake) emit(e cellproto.Event) {
	if err := cellproto.Write(f.events, e); err != nil {
		os.Exit(9)
	}
}

func (f *fake) run(r cellproto.Request) {
	c := cell{fake: f, pipes: r.Pipes, done: cellproto.Event{ID: r.ID, Type: cellproto.Done}}
	for line := range strings.Lines(r.Code) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		c.do(word, rest)
		if c.done.Error != nil {
			break
		}
	}
	f.emit(c.done)
}
