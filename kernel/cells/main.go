//go:build cells

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"warpbook/gpu/device"
	"warpbook/kernel/cellproto"
	"warpbook/kernel/cells/gpumagic"
	"warpbook/kernel/display"
	"warpbook/kernel/display/widget"
	"warpbook/kernel/engine"
	"warpbook/kernel/engine/hint"
	"warpbook/kernel/engine/split"
	"warpbook/kernel/engine/symbols"
	"warpbook/kernel/leaf/release"
	"warpbook/kernel/leaf/trim"
	"warpbook/kernel/messages"
	"warpbook/ops/peers"
)

// warm are the packages that most notebooks import.
var warm = []string{"fmt", "errors", "time", "math", "strings", "sort", "warpbook/ops", "warpbook/kernel/display", "gonum.org/v1/plot", "gonum.org/v1/plot/plotter"}

// warmDelay lets an immediate first cell run first: warming up plots would delay it by
// 25 ms.
const warmDelay = 100 * time.Millisecond

// fenceTime is how long an event waits for its delivery, in case cellproc does not
// answer.
const fenceTime = 2 * time.Second

// program connects the engine to the two descriptors. The goroutine that reads a cell
// runs it, and reads on after a short one: waking another thread takes a tenth of a
// small cell's time. During a longer cell another goroutine reads.
type program struct {
	engine  *engine.Engine
	running runnings
	printed *printed
	input   *input
	usages  usages
	debug   debugging
	passed  chan struct{}

	board    *widget.Board // the controls of display.Interact
	captures captures
	memory   trim.Heap

	requests io.Reader               // owned by the reading goroutine
	gone     chan struct{}           // closed at the end of requests
	reader   atomic.Pointer[running] // the cell that the reading goroutine runs, nil while it reads

	fence sync.Mutex // held by an event until it is delivered

	emitting sync.Mutex // guards events
	events   io.Writer
}

// serve answers requests until there are no more.
func serve(requests io.Reader, events io.Writer) error {
	if err := messages.SetFromEnvironment(); err != nil {
		fmt.Fprintln(os.Stderr, err) // the texts stay in English
	}
	symbols.Register()
	p := &program{
		requests: bufio.NewReader(requests), events: events, gone: make(chan struct{}),
		passed: make(chan struct{}, 1), running: newRunnings(),
		board: widget.NewBoard(), captures: captures{open: map[uint64]func(display.Piece) bool{}},
	}
	p.input = &input{emit: p.emit, asking: p.asking}
	var err error
	if p.printed, err = newPrinted(p.emit, p.deliver, p.running.shows); err != nil {
		return err
	}
	p.debug = newDebugging(p)
	p.engine, err = engine.New(engine.Config{
		Interrupt: []func(){device.InterruptAll, peers.Interrupt}, Ending: device.Ending, Doc: symbols.Doc, Stdin: p.input, Output: p.written,
		Debugger: p.debug.debugger(),
		Show:     func(v any) { display.Show(v) }, Past: inheritedPast(), Lasting: p.readOn,
		Magics: append(gpumagic.All(), p.debug.magics()...), Advice: hint.Advice{HostCode: gpumagic.HostCode, Moved: gpumagic.Moved, MovedTo: gpumagic.MovedTo}, Texts: gpumagic.Texts,
	})
	if err != nil {
		return err
	}
	defer p.engine.Close()
	display.SetSink(p.display)
	display.SetAsker(p.input.ask)
	display.SetStage(p.stage())
	p.emit(cellproto.Event{Type: cellproto.Ready, Text: release.Name()})
	time.AfterFunc(warmDelay, func() { p.engine.Warm(warm...) })
	go p.read()
	<-p.gone
	return nil
}

// read handles requests until another goroutine takes over the reading.
func (p *program) read() {
	for reads := true; reads; {
		var r cellproto.Request
		if err := cellproto.Read(p.requests, &r); err != nil {
			close(p.gone) // cellproc has ended
			return
		}
		if r.Type == cellproto.Execute {
			reads = p.run(r)
		} else {
			p.handle(r)
		}
	}
}

// readOn starts another reading goroutine if the current one runs a cell.
func (p *program) readOn() {
	if x := p.reader.Load(); x != nil && p.reader.CompareAndSwap(x, nil) {
		go p.read()
	}
}

// run runs a cell, and reports whether this goroutine still reads.
func (p *program) run(r cellproto.Request) (reads bool) {
	x := p.running.add(r)
	p.reader.Store(x)
	defer func() { // also when the cell ends this goroutine
		if !reads && p.reader.CompareAndSwap(x, nil) {
			go p.read()
		}
	}()
	p.execute(r, x)
	return p.reader.CompareAndSwap(x, nil)
}

// handle handles all requests but cells, and does not wait for any.
func (p *program) handle(r cellproto.Request) {
	switch r.Type {
	case cellproto.Interrupt:
		if p.running.oldest() == 0 {
			p.engine.StopGoroutines()
		}
		if p.running.interrupt() {
			device.InterruptAll() // a second interrupt does not wait for launches
		}
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done})
	case cellproto.Complete:
		go p.complete(r)
	case cellproto.Inspect:
		go p.inspect(r)
	case cellproto.AskTyped:
		typed, depth := split.Typed(r.Code)
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Typed: typed, Depth: depth})
	case cellproto.AskUsage:
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Usage: p.usages.measure()})
	case cellproto.CommMessage:
		p.comm(r)
	case cellproto.AskComms:
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Comms: p.board.Opened()})
	case cellproto.Debug:
		go func() { p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Text: p.debug.answer(r.Text)}) }()
	case cellproto.Passed:
		select {
		case p.passed <- struct{}{}:
		default:
		}
	case cellproto.Reply:
		p.input.answer(p.running.get(r.ID), r)
	default:
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Error: failure("unknown request " + r.Type)})
	}
}

// owner returns the request that activity on this goroutine belongs to. Compiled code
// that a cell calls may start goroutines; these count as the oldest cell's.
func (p *program) owner() uint64 {
	if id := p.engine.Owner(); id != 0 {
		return id
	}
	return p.running.oldest()
}

// asking returns the cell that asks on this goroutine, nil if the cell has ended.
func (p *program) asking() *running {
	p.readOn() // the answer arrives as a request
	return p.running.get(p.owner())
}

func failure(value string) *cellproto.Error {
	return &cellproto.Error{Name: "request error", Value: value, Traceback: []string{value}}
}

// execute runs a cell.
func (p *program) execute(r cellproto.Request, x *running) {
	if r.Pipes {
		p.printed.own(r.ID)
	}
	if r.Follow {
		p.follow(r, x)
		return
	}
	p.begins(r)
	p.engine.Eval(x.ctx, r.ID, r.Cell, r.Code, func(res engine.Result) {
		done := cellproto.Event{ID: r.ID, Type: cellproto.Done, Error: res.Err, Next: res.Next}
		if len(res.Values) > 0 {
			p.show(x, res.Values, done)
		} else {
			p.end(x, done)
		}
	})
}

// show makes bundles of a cell's values, which may call methods of cells, and ends the
// cell.
func (p *program) show(x *running, values []any, done cellproto.Event) {
	var data, metadata map[string]any
	var failed error
	p.engine.Protect(x.ctx, x.id, func() {
		for i, v := range display.Parts(values) {
			if i > 0 { // only the last can be the cell's own value
				p.display(cellproto.Event{Type: cellproto.Display, Data: data, Metadata: metadata})
			}
			var err error
			if data, metadata, err = display.Draw(v); failed == nil {
				failed = err
			}
		}
		if failed != nil { // the display holds the numbers and the reason; the cell fails
			p.display(cellproto.Event{Type: cellproto.Display, Data: data, Metadata: metadata})
			panic(failed)
		}
	}, func(err *cellproto.Error) {
		if done.Error = err; err == nil {
			done.Data, done.Metadata = data, metadata
		}
		p.end(x, done)
	})
}

// end answers a cell.
func (p *program) end(x *running, done cellproto.Event) {
	p.running.remove(x)
	if p.running.oldest() == 0 {
		p.debug.idle()
	}
	p.printed.disown(x.id)
	collectAfter()
	p.emit(done)
	if runtime.GOOS != "js" { // a page does not take memory back
		p.memory.Worked()
	}
}

func (p *program) complete(r cellproto.Request) {
	c, failure := p.engine.Complete(r.Code, r.Cursor)
	p.emit(cellproto.Event{ID: r.ID, Type: cellproto.Done, Error: failure, Matches: c.Matches, Start: c.Start, End: c.End})
}

func (p *program) inspect(r cellproto.Request) {
	text, path, name, failure := p.engine.InspectWhole(r.Code, r.Cursor)
	if r.Detail > 0 {
		text = strings.TrimSpace(text + "\n\n" + sourceOf(path, name))
	}
	e := cellproto.Event{ID: r.ID, Type: cellproto.Done, Error: failure}
	if text != "" {
		e.Data = map[string]any{"text/plain": text}
	}
	p.emit(e)
}

// display sends an event of a cell and waits until it is delivered, so that later
// prints of the cell come after it.
func (p *program) display(e cellproto.Event) {
	owner := p.owner()
	if e.Type == cellproto.Display && p.captures.take(owner, func() display.Piece {
		return display.Piece{Data: e.Data, Metadata: e.Metadata, ID: e.Display, Update: e.Update}
	}) {
		return
	}
	p.printed.flush()
	e.ID = p.running.shows(owner)
	p.deliver(e)
}

// deliver sends an event and waits until it is delivered.
func (p *program) deliver(e cellproto.Event) {
	p.fence.Lock()
	defer p.fence.Unlock()
	select {
	case <-p.passed:
	default:
	}
	e.Fence = true
	p.emit(e)
	p.readOn() // Passed arrives as a request
	select {
	case <-p.passed:
	case <-time.After(fenceTime):
	}
}

func (p *program) emit(e cellproto.Event) {
	p.emitting.Lock()
	defer p.emitting.Unlock()
	if err := cellproto.Write(p.events, e); err != nil {
		if e.Type == cellproto.Done {
			e = cellproto.Event{ID: e.ID, Type: cellproto.Done, Error: failure(err.Error())}
			cellproto.Write(p.events, e) // if this fails too, cellproc has ended
		}
		fmt.Fprintln(os.Stderr, err)
	}
}
