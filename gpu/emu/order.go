//go:build !js

package emu

import (
	"maps"
	"sync"

	"warpbook/gpu/emu/engine"
)

// clock holds, for each stream, the number of its last launch that comes before.
type clock map[uint32]uint64

func (c clock) learn(from clock) {
	for stream, n := range from {
		c[stream] = max(c[stream], n)
	}
}

// ordering records which launches come before which on a GPU, where streams run at the
// same time. The emulator runs one launch after another. The order is that of each
// stream, of events and of the host, which waits by Sync, Upload, Download and Time. All
// goroutines of the host count as one. Each piece of work of a graph with branches has a
// stream of its own.
//
// A device without streams of its own has one order, and records nothing.
type ordering struct {
	mu      sync.Mutex
	streams uint32           // made beside the default stream; guarded by mu
	last    clock            // of all launches; guarded by mu
	host    clock            // of launches that the host has waited for; guarded by mu
	of      map[uint32]clock // what the last work of each stream comes after, and itself; guarded by mu
}

// newStream is the number of a new stream; that of the default one is 0.
func (o *ordering) newStream() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams == 0 {
		o.last, o.host, o.of = clock{}, clock{}, map[uint32]clock{0: {}}
	}
	o.streams++
	o.of[o.streams] = clock{}
	return o.streams
}

// submitted is what the next work of a stream comes after, nil without streams; mu is held.
func (o *ordering) submitted(stream uint32) clock {
	c := o.of[stream]
	if c != nil {
		c.learn(o.host)
	}
	return c
}

// launch is the place of the next launch of a stream, nil on a device without streams.
func (o *ordering) launch(stream uint32) *engine.Order {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.submitted(stream)
	if c == nil {
		return nil
	}
	place := &engine.Order{Stream: stream, Number: o.last[stream] + 1, Alone: maps.Equal(o.host, o.last)}
	o.last[stream], c[stream] = place.Number, place.Number
	place.Before = maps.Clone(c)
	return place
}

// fork makes the next work of a stream come after the last work of others.
func (o *ordering) fork(stream uint32, after ...uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams == 0 {
		return
	}
	c := clock{}
	for _, s := range after {
		c.learn(o.submitted(s))
	}
	o.of[stream] = c
}

// join makes later work of a stream come after the last work of others.
func (o *ordering) join(stream uint32, others ...uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.submitted(stream); c != nil {
		for _, s := range others {
			c.learn(o.of[s])
		}
	}
}

// record makes an event stand for the work of a stream up to now.
func (o *ordering) record(stream uint32, e *event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e.after = maps.Clone(o.submitted(stream))
}

// wait puts the work before an event before later work of a stream.
func (o *ordering) wait(stream uint32, e *event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.submitted(stream); c != nil {
		c.learn(e.after)
	}
}

// sync notes that the host has waited for a stream.
func (o *ordering) sync(stream uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams > 0 {
		o.host.learn(o.of[stream])
	}
}

// syncAll notes that the host has waited for all work.
func (o *ordering) syncAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streams > 0 {
		o.host.learn(o.last)
	}
}

// syncEvents notes that the host has waited for events.
func (o *ordering) syncEvents(events ...*event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		if o.streams > 0 {
			o.host.learn(e.after)
		}
	}
}

// closed notes that the host has waited for a stream that takes no more work.
func (o *ordering) closed(stream uint32) {
	o.sync(stream)
	o.drop(stream)
}

// drop forgets streams that take no more work.
func (o *ordering) drop(streams ...uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range streams {
		delete(o.of, s)
	}
}
