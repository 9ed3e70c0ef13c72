//go:build linux

package program

import (
	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/program/wire"
)

// Numbers of the streams that every program has.
const (
	legacyStream    = 0 // and 1
	perThreadStream = 2 // one for all threads
)

// streams are the streams and the events of a program. The device runs their work in the
// order of the calls, and finds races that a GPU may have. The legacy stream waits for the
// work of all streams that are not made with cudaStreamNonBlocking, and their later work
// waits for it.
type streams struct {
	dev    *emu.Device
	queues map[uint64]*queue    // by number; empty in a program without streams
	events map[uint64]gpu.Event // that were recorded, by number
	join   gpu.Event            // orders one stream after another
	busy   map[*queue]bool      // that wait for the legacy stream, and have work that it has not waited for
	legacy int                  // pieces of work in the legacy stream
}

// queue is a stream that the program made.
type queue struct {
	gpu.Stream
	apart  bool // it does not wait for the legacy stream
	legacy int  // pieces of work of the legacy stream that it has waited for
}

func newStreams(dev *emu.Device) streams {
	return streams{dev: dev, queues: map[uint64]*queue{}, events: map[uint64]gpu.Event{}, busy: map[*queue]bool{}}
}

// of is the stream for a piece of work.
func (s *streams) of(number uint64) gpu.Stream {
	if len(s.queues) == 0 {
		return s.dev
	}
	if number == perThreadStream && s.queues[number] == nil {
		s.open(number, false)
	}
	q := s.queues[number]
	switch {
	case q == nil: // the legacy stream
		for b := range s.busy {
			s.after(s.dev, b.Stream)
		}
		clear(s.busy)
		s.legacy++
		return s.dev
	case !q.apart:
		if q.legacy < s.legacy {
			s.after(q.Stream, s.dev)
			q.legacy = s.legacy
		}
		s.busy[q] = true
	}
	return q.Stream
}

// after puts the later work of a stream after the work of another up to now. Both are open.
func (s *streams) after(later, earlier gpu.Stream) {
	earlier.Record(s.join)
	later.Wait(s.join)
}

// open makes a stream. Without one the program's work is compared less, and runs as well.
func (s *streams) open(number uint64, apart bool) {
	made, err := s.dev.NewStream()
	if err == nil && s.join == nil {
		s.join, err = s.dev.NewEvent()
	}
	if err == nil {
		s.queues[number] = &queue{Stream: made, apart: apart, legacy: s.legacy}
	}
}

// record makes an event stand for the work of a stream up to now.
func (s *streams) record(event, stream uint64) {
	if len(s.queues) == 0 {
		return
	}
	e := s.events[event]
	if e == nil {
		made, err := s.dev.NewEvent()
		if err != nil {
			return // the device is closed
		}
		e, s.events[event] = made, made
	}
	s.of(stream).Record(e) // both are open
}

// order notes what later work comes after.
func (s *streams) order(m wire.Message) {
	what, a, b := m.Value(0), m.Value(1), m.Value(2)
	if what == wire.MakeStream {
		s.open(a, b != 0)
	}
	if len(s.queues) == 0 {
		return
	}
	switch what {
	case wire.WaitEvent:
		if e := s.events[b]; e != nil {
			s.of(a).Wait(e)
		}
	case wire.HostStream:
		s.of(a).Sync() // of an open stream
	case wire.HostEvent:
		if e := s.events[a]; e != nil {
			s.dev.WaitForEvent(e)
		}
	case wire.HostAll:
		s.dev.WaitForAll()
	}
}

// call is a call that works on memory in a stream.
func (s *streams) call(name string, stream uint64) emu.Call {
	switch stream {
	case wire.NoStream:
		return emu.Call{Name: name}
	case legacyStream:
		return emu.Call{On: s.of(stream), Name: name}
	}
	return emu.Call{On: s.of(stream), Name: name + "Async"}
}
