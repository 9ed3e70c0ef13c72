package cuda

import (
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// grace is how long an interrupt waits for the running work to end by itself: only
// killing the worker ends a launch, and that loses all buffers.
const grace = 2 * time.Second

// returning is how long a call may take to return after its worker was killed.
const returning = time.Second

// Interrupt ends the work that the device is running. It waits up to grace for the
// running launch, and a second call in that time ends the wait.
func (d *Device) Interrupt() {
	d.interrupts.Add(1)
	l, err := d.current()
	if l == nil || err != nil {
		return
	}
	d.recall.interrupt()
	if !d.stopping.CompareAndSwap(false, true) {
		d.abandon(l)
		return
	}
	d.ending.Store(time.Now().Add(grace + returning).UnixNano())
	go func() {
		defer d.stopping.Store(false)
		if d.await(l) {
			d.ending.Store(0)
		}
	}()
}

// Interrupts is the number of calls of Interrupt.
func (d *Device) Interrupts() uint64 { return uint64(d.interrupts.Load()) }

// Ending reports whether calls may still return because of an interrupt.
func (d *Device) Ending() bool { return time.Now().UnixNano() < d.ending.Load() }

// await waits for all work, then kills the worker. It reports whether the work
// ended by itself.
func (d *Device) await(l *link) bool {
	answer := make(chan reply, 1)
	go func() { answer <- <-l.ask(&command.Sync{Stream: command.AllStreams}) }() // asking may have to wait, too
	const silent = 300 * time.Millisecond
	select {
	case r := <-answer:
		return r.err == nil
	case <-time.After(silent):
	}
	if d.config.Notice != nil {
		d.config.Notice(fmt.Sprintf("waiting %v for the running launch to end: interrupt again to end it at once and lose the buffers that are not kept", grace))
	}
	select {
	case r := <-answer:
		return r.err == nil
	case <-time.After(grace - silent):
		d.abandon(l)
	}
	return false
}

// abandon kills the worker during a launch.
func (d *Device) abandon(l *link) {
	f := &gpu.Fault{Kind: gpu.ErrInterrupted, Detail: "the launch did not end, its worker was killed"}
	l.blame(f)
	f.Detail += d.losses(l)
	l.end(f)
}
