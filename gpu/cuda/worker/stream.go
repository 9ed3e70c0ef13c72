//go:build cuda

package main

import (
	"sync/atomic"
	"unsafe"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// stream is a queue of work. To attribute a fault to a launch, the stream writes a
// number into its progress word, in host memory, between two different launches.
// Consecutive equal launches are one group and cost nothing.
type stream struct {
	stream  cu.Stream
	err     error // first of the commands that are not answered
	slot    int   // of its progress word; 0 for none
	group   uint32
	pending []group // not known to have ended
}

// group is equal launches in a row, or launches of one graph.
type group struct {
	number uint32
	launch command.Suspect
	graph  *nodes // nil for a launch of its own
}

// slots bounds how many streams have a progress word; slot 0 is the gate of
// timed runs.
const (
	slots     = 1024
	slotBytes = 4
)

// remembered limits the groups that a stream keeps: more than the device queues.
const remembered = 4096

func (w *worker) word(slot int) (*atomic.Uint32, cu.DevicePtr) {
	return (*atomic.Uint32)(unsafe.Pointer(&w.slots[slot*slotBytes])), w.slotsAt + cu.DevicePtr(slot*slotBytes)
}

func (w *worker) newStream(number uint32) error {
	s, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return wrap(err, "stream")
	}
	made := &stream{stream: s}
	used := map[int]bool{}
	for _, other := range w.streams {
		used[other.slot] = true
	}
	for slot := 1; slot < slots && made.slot == 0; slot++ {
		if !used[slot] {
			made.slot = slot
			word, _ := w.word(slot)
			word.Store(0)
		}
	}
	w.streams[number] = made
	return nil
}

// mark notes the next work on the stream.
func (w *worker) mark(s *stream, next group) error {
	if n := len(s.pending); n > 0 && s.pending[n-1].launch == next.launch && s.pending[n-1].graph == next.graph {
		return nil
	}
	if len(s.pending) > 0 && s.slot > 0 {
		_, at := w.word(s.slot)
		if err := s.stream.WriteValue32(at, s.group, 0); err != nil {
			return wrap(err, "progress")
		}
	}
	if len(s.pending) == remembered {
		s.pending = append(s.pending[:0], s.pending[remembered/2:]...)
	}
	s.group++
	next.number = s.group
	s.pending = append(s.pending, next)
	return nil
}

// suspects are the launches that may be running: on each stream the first launch
// that is not known to have ended.
func (w *worker) suspects() (list []command.Suspect) {
	for _, s := range w.streams {
		done, _ := w.word(s.slot)
		for _, g := range s.pending {
			if s.slot == 0 || g.number > done.Load() {
				list = append(list, g.all()...)
				break
			}
		}
	}
	return list
}

// all are the launches of a group that may have caused an error.
func (g group) all() []command.Suspect {
	if g.graph != nil {
		return g.graph.launches
	}
	return []command.Suspect{g.launch}
}

// sync waits for a stream, or all, and returns the first error of its work.
func (w *worker) sync(number uint32) error {
	w.settle()
	if number == command.AllStreams {
		if err := cu.Synchronize(); err != nil {
			return wrap(err, "sync")
		}
		for _, s := range w.streams {
			s.pending = s.pending[:0]
		}
		return nil
	}
	s, err := find(w.streams, number, "stream")
	if err != nil {
		return err
	}
	if err := s.stream.Synchronize(); err != nil {
		return wrap(err, "sync")
	}
	s.pending = s.pending[:0]
	err, s.err = s.err, nil
	return err
}

func (w *worker) closeStream(number uint32) error {
	s, err := find(w.streams, number, "stream")
	if err != nil {
		return err
	}
	err = w.sync(number)
	delete(w.streams, number)
	if e := s.stream.Destroy(); err == nil {
		err = wrap(e, "close stream")
	}
	return err
}

func (w *worker) newEvent(number uint32) error {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	if err != nil {
		return wrap(err, "event")
	}
	w.events[number] = e
	return nil
}

func (w *worker) closeEvent(number uint32) error {
	e, err := find(w.events, number, "event")
	if err != nil {
		return err
	}
	delete(w.events, number)
	return wrap(cu.DestroyEvent(&e), "close event")
}

func (w *worker) record(c *command.Record) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	e, err := find(w.events, c.Event, "event")
	if err != nil {
		return err
	}
	return wrap(e.Record(s.stream), "record")
}

func (w *worker) wait(c *command.Wait) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	e, err := find(w.events, c.Event, "event")
	if err != nil {
		return err
	}
	return wrap(s.stream.Wait(e, 0), "wait")
}

func (w *worker) elapsed(c *command.Elapsed) ([]int64, error) {
	start, err := find(w.events, c.Start, "event")
	if err != nil {
		return nil, err
	}
	end, err := find(w.events, c.End, "event")
	if err != nil {
		return nil, err
	}
	for _, e := range []cu.Event{start, end} {
		if err := e.Synchronize(); err != nil {
			return nil, wrap(err, "sync")
		}
	}
	ms, err := start.Elapsed(end)
	return []int64{command.Nanoseconds(ms)}, wrap(err, "elapsed")
}
