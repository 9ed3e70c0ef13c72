package breath

import (
	"syscall/js"
	"time"
)

const (
	interval = 20 * time.Millisecond // between two pauses; one costs about 0.1 ms
	mostLeft = 1 << 14
)

// js has one thread, and goroutines change only where they wait: the variables need no
// lock.
var (
	left   int32    // polls until the clock is read
	turns  int32    = 64
	looked          = time.Now() // when the clock was read
	paused          = looked     // when a goroutine last paused
	pause  js.Value              // the worker's warpbookPause, which calls its argument as an event of its own
)

// Poll is called at each iteration of a loop that may run long.
func Poll() {
	if left--; left < 0 {
		look()
	}
}

// look reads the clock, and pauses if the last pause is long ago. Polls between two
// looks are adjusted to a few milliseconds.
func look() {
	now := time.Now()
	switch d := now.Sub(looked); {
	case d < 2*time.Millisecond && turns < mostLeft:
		turns *= 2
	case d > 8*time.Millisecond && turns > 1:
		turns /= 2
	}
	left, looked = turns, now
	if now.Sub(paused) < interval {
		return
	}
	paused = now
	if pause.IsUndefined() {
		if pause = js.Global().Get("warpbookPause"); pause.IsUndefined() {
			pause = js.Global().Get("setTimeout")
		}
	}
	events := make(chan struct{})
	back := js.FuncOf(func(js.Value, []js.Value) any { close(events); return nil })
	pause.Invoke(back)
	<-events
	back.Release()
	looked = time.Now()
	paused = looked
}
