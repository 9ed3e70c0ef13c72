//go:build cells

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"warpbook/gpu/device"
	"warpbook/kernel/cell"
	"warpbook/kernel/cell/symbols"
	"warpbook/kernel/display"
	"warpbook/kernel/frame"
	"warpbook/kernel/heap"
	"warpbook/ops/peers"
)

func main() {
	const in, out, crash = 3, 4, 5
	syscall.CloseOnExec(in)       // what a cell starts may neither read requests
	syscall.CloseOnExec(out)      // nor keep the session waiting for an end of events
	syscall.SetNonblock(in, true) // so that no thread waits for a request
	runtime.MemProfileRate = sampled
	reportCrash(crash)
	paceCollections()
	requests, events := os.NewFile(in, "requests"), os.NewFile(out, "events")
	if err := serve(requests, events); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	endGroup()
}

// reportCrash has the runtime write why it ends the program to a pipe, too, so
// that the session can tell that from what cells print. Who starts the program
// by hand has none.
func reportCrash(descriptor uintptr) {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(descriptor), &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	f := os.NewFile(descriptor, "crash")
	defer f.Close()
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil { // it keeps a copy
		fmt.Fprintln(os.Stderr, err)
	}
}

// endGroup ends what cells have started and left running. The session does that
// too, unless it was killed. Who starts the program by hand is in its group.
func endGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		syscall.Kill(0, syscall.SIGKILL)
	}
}

// warm are the packages that most notebooks import first.
var warm = []string{"fmt", "errors", "time", "math", "strings", "sort", "warpbook/ops", "warpbook/kernel/display", "gonum.org/v1/plot", "gonum.org/v1/plot/plotter"}

// warmDelay lets a first cell that comes at once go first: warming up plots
// would hold it up for 25 ms.
const warmDelay = 100 * time.Millisecond

// fenceTime is how long a display waits for its delivery, in case the session
// does not answer.
const fenceTime = 2 * time.Second

// program connects the engine to the two descriptors. Who reads a cell runs it,
// and reads on if it was a short one: to wake another thread takes a tenth of a
// small cell's time. While a longer one lasts, another goroutine reads.
type program struct {
	engine  *cell.Engine
	running runnings
	printed *printed
	input   *input
	passed  chan struct{}

	requests io.Reader               // of the goroutine that reads
	gone     chan struct{}           // closed when there are no more
	reader   atomic.Pointer[running] // what that goroutine runs, nil while it reads

	fence sync.Mutex // held by a display until it is delivered

	emitting sync.Mutex // guards events
	events   *os.File
}

// serve answers requests until there are no more.
func serve(requests, events *os.File) error {
	symbols.Register()
	p := &program{
		requests: bufio.NewReader(requests), events: events, gone: make(chan struct{}),
		passed: make(chan struct{}, 1), running: runnings{cells: map[uint64]*running{}},
	}
	p.input = &input{emit: p.emit, asking: p.asking}
	p.printed = &printed{emit: p.emit}
	var err error
	p.engine, err = cell.New(cell.Config{
		Interrupt: []func(){device.InterruptAll, peers.Interrupt}, Ending: device.Ending, Doc: symbols.Doc, Stdin: p.input, Output: p.printed.write,
		Show: func(v any) { display.Show(v) }, Past: inheritedPast(), Lasting: p.readOn,
	})
	if err != nil {
		return err
	}
	defer p.engine.Close()
	display.SetSink(p.display)
	display.SetAsker(p.input.ask)
	p.emit(frame.Event{Type: frame.Ready})
	time.AfterFunc(warmDelay, func() {
		p.engine.Warm(warm...)
		heap.Fill()
	})
	go p.read()
	<-p.gone
	return nil
}

// read handles requests until another goroutine reads.
func (p *program) read() {
	for reads := true; reads; {
		var r frame.Request
		if err := frame.Read(p.requests, &r); err != nil {
			close(p.gone) // the session has
			return
		}
		if r.Type == frame.Execute {
			reads = p.run(r)
		} else {
			p.handle(r)
		}
	}
}

// readOn has another goroutine read, if the one that did runs a cell.
func (p *program) readOn() {
	if x := p.reader.Load(); x != nil && p.reader.CompareAndSwap(x, nil) {
		go p.read()
	}
}

// run runs a cell, and says whether this goroutine still reads.
func (p *program) run(r frame.Request) (reads bool) {
	x := p.running.add(r.ID)
	p.reader.Store(x)
	defer func() { // unless the cell ends this goroutine, reads is known
		if !reads && p.reader.CompareAndSwap(x, nil) {
			go p.read()
		}
	}()
	p.execute(r, x)
	return p.reader.CompareAndSwap(x, nil)
}

// handle takes what is no cell, and waits for none.
func (p *program) handle(r frame.Request) {
	switch r.Type {
	case frame.Interrupt:
		if p.running.interrupt() {
			device.InterruptAll() // a second stop waits for no launch
		}
		p.emit(frame.Event{ID: r.ID, Type: frame.Done})
	case frame.Complete:
		go p.complete(r)
	case frame.Inspect:
		go p.inspect(r)
	case frame.Passed:
		select {
		case p.passed <- struct{}{}:
		default:
		}
	case frame.Reply:
		p.input.answer(p.running.get(r.ID), r)
	default:
		p.emit(frame.Event{ID: r.ID, Type: frame.Done, Error: failure("unknown request " + r.Type)})
	}
}

// owner is the request that what happens on this goroutine belongs to. Compiled
// code that a cell calls may start goroutines; these count as the oldest
// cell's.
func (p *program) owner() uint64 {
	if id := p.engine.Owner(); id != 0 {
		return id
	}
	return p.running.oldest()
}

// asking is the cell that asks on this goroutine, nil if it has ended.
func (p *program) asking() *running {
	p.readOn() // the answer
	return p.running.get(p.owner())
}

func failure(value string) *frame.Error {
	return &frame.Error{Name: "request error", Value: value, Traceback: []string{value}}
}

// execute runs a cell.
func (p *program) execute(r frame.Request, x *running) {
	if r.Pipes {
		p.printed.own(r.ID)
	}
	p.engine.Eval(x.ctx, r.ID, r.Cell, r.Code, func(res cell.Result) {
		done := frame.Event{ID: r.ID, Type: frame.Done, Error: res.Err, Next: res.Next}
		if len(res.Values) > 0 {
			p.show(x, res.Values, done)
		} else {
			p.end(x, done)
		}
	})
}

// show makes bundles of a cell's values, which may call methods of cells, and
// ends it.
func (p *program) show(x *running, values []any, done frame.Event) {
	var data, metadata map[string]any
	p.engine.Protect(x.ctx, x.id, func() {
		for i, v := range display.Parts(values) {
			if i > 0 { // only the last can be the cell's own
				p.display(frame.Event{Type: frame.Display, Data: data, Metadata: metadata})
			}
			data, metadata = display.Of(v)
		}
	}, func(err *frame.Error) {
		if done.Error = err; err == nil {
			done.Data, done.Metadata = data, metadata
		}
		p.end(x, done)
	})
}

// end answers a cell.
func (p *program) end(x *running, done frame.Event) {
	p.running.remove(x)
	p.printed.disown(x.id)
	p.emit(done)
}

func (p *program) complete(r frame.Request) {
	matches, start, end := p.engine.Complete(r.Code, r.Cursor)
	p.emit(frame.Event{ID: r.ID, Type: frame.Done, Matches: matches, Start: start, End: end})
}

func (p *program) inspect(r frame.Request) {
	e := frame.Event{ID: r.ID, Type: frame.Done}
	if text := p.engine.Inspect(r.Code, r.Cursor); text != "" {
		e.Data = map[string]any{"text/plain": text}
	}
	p.emit(e)
}

// display sends an event of a cell and waits until it is delivered, so that what
// the cell prints next comes after it.
func (p *program) display(e frame.Event) {
	p.fence.Lock()
	defer p.fence.Unlock()
	p.printed.flush()
	select {
	case <-p.passed:
	default:
	}
	e.ID, e.Fence = p.owner(), true
	p.emit(e)
	p.readOn() // that it is delivered
	select {
	case <-p.passed:
	case <-time.After(fenceTime):
	}
}

func (p *program) emit(e frame.Event) {
	p.emitting.Lock()
	defer p.emitting.Unlock()
	if err := frame.Write(p.events, e); err != nil {
		if e.Type == frame.Done {
			e = frame.Event{ID: e.ID, Type: frame.Done, Error: failure(err.Error())}
			frame.Write(p.events, e) // when this fails too the session has gone
		}
		fmt.Fprintln(os.Stderr, err)
	}
}
