//go:build cells

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall/js"
	"time"
)

// main connects the program to the page's worker instead of two descriptors. The worker
// sets warpbookEvent, which takes bytes of event frames, before it starts the program,
// and calls warpbookRequest, which the program sets, with bytes of request frames.
func main() {
	runtime.MemProfileRate = sampled
	paceCollections()
	growAtOnce()
	emit := js.Global().Get("warpbookEvent")
	if emit.Type() != js.TypeFunction {
		fmt.Fprintln(os.Stderr, "cells: no function warpbookEvent: expected the worker of kernel/lite to start the program")
		os.Exit(1)
	}
	requests := newQueue()
	js.Global().Set("warpbookRequest", js.FuncOf(func(_ js.Value, args []js.Value) any {
		p := make([]byte, args[0].Length())
		js.CopyBytesToGo(p, args[0])
		requests.add(p)
		return nil
	}))
	if err := serve(requests, events{emit}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// grown is how much memory the program takes at its start. It would grow by half a
// megabyte at a time, for each of which V8 may collect its own garbage. A page that was
// never touched costs nothing.
const grown = 256 << 20

func growAtOnce() { runtime.KeepAlive(make([]byte, grown)) }

// events hands bytes to the worker.
type events struct{ emit js.Value }

func (e events) Write(p []byte) (int, error) {
	array := js.Global().Get("Uint8Array").New(len(p))
	js.CopyBytesToJS(array, p)
	e.emit.Invoke(array)
	return len(p), nil
}

// queue holds the bytes of requests until they are read.
type queue struct {
	added chan struct{} // holds a value after bytes were added
	bytes []byte        // js has one thread, and goroutines change only where they wait
}

func newQueue() *queue { return &queue{added: make(chan struct{}, 1)} }

// add is called by the page and must not wait.
func (q *queue) add(p []byte) {
	q.bytes = append(q.bytes, p...)
	select {
	case q.added <- struct{}{}:
	default:
	}
}

func (q *queue) Read(p []byte) (int, error) {
	for len(q.bytes) == 0 {
		<-q.added
	}
	n := copy(p, q.bytes)
	q.bytes = q.bytes[n:]
	return n, nil
}

var _ io.Reader = (*queue)(nil)

var start = time.Now()

// processorTime is the time since the start: a page cannot ask for more.
func processorTime() time.Duration { return time.Since(start) }

// duplicate returns the descriptor itself. A page has no others, and the worker catches
// what is written to them.
func duplicate(fd int) (int, error) {
	if fd < 0 {
		return 0, errors.New("no descriptor")
	}
	return fd, nil
}
