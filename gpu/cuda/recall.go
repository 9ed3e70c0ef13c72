package cuda

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
	"warpbook/gpu/replay"
)

// The limits of a replay's cost.
const (
	// recalled limits the memory of launches that is copied before they run.
	recalled = 64 << 20

	// together limits the launches that share one copy: a replay also runs the
	// launches before the faulty one. Small launches end before a copy for them is
	// submitted, and replay quickly: up to longest of them share a copy while they
	// have fewer than light threads.
	together = 64
	longest  = 1024
	light    = 1 << 16

	// replayTime limits the replay of a fault.
	replayTime = 10 * time.Second
)

// recall holds the data to replay the last launches of each stream. A stream
// copies the memory of a launch to the host just before the launch runs, unless
// only its own launches have changed the memory since the last copy.
type recall struct {
	mu        sync.Mutex
	histories map[uint32]*history     // by stream; guarded by mu
	stop      context.CancelCauseFunc // ends the replay that goes on; guarded by mu
}

// history is the last three snapshots of a stream: the host runs ahead of the
// device, by less than three, so that it need not wait for the worker when the
// device keeps up. The lock is held while a launch is recorded, which judges no
// answer of the worker, and while the history is replayed.
type history struct {
	mu     sync.Mutex
	last   [3]*snapshot  // newest first; guarded by mu
	given  []*allocation // memory of the launches that are being recorded; reused, so recording does not allocate; guarded by mu
	missed []string      // entries of the last launches that are not recorded; guarded by mu
	why    string        // the reason for missed; guarded by mu
}

// snapshot is a series of launches and a copy of their memory from before the first.
type snapshot struct {
	link     *link
	area     *host // of the copies
	used     int64
	event    uint32       // recorded at its end
	ended    <-chan reply // answers once the event has happened; nil before that is asked for
	memory   []copied
	launches []gpu.Launch
	threads  int // of all of them
}

// copied is an allocation's contents, at an offset of the area.
type copied struct {
	memory *allocation
	offset int64
}

// record notes launches that are about to be submitted together to a stream, whose
// lock is held, and lets the stream copy their memory. It reports whether it did. If
// not, a later fault reports the reason.
func (d *Device) record(s *stream, l *link, launches ...*gpu.Launch) bool {
	if d.config.Emulator == nil {
		return false
	}
	t := d.recall.history(s.handle)
	t.mu.Lock()
	defer t.mu.Unlock()
	memory, bytes := given(t.given[:0], launches...)
	t.given = memory
	skip := ""
	switch {
	case slices.ContainsFunc(launches, func(l *gpu.Launch) bool { return l.Checks&gpu.CheckNone != 0 }):
		skip = "it was launched with gpu.CheckNone"
	case slices.ContainsFunc(launches, hasObject):
		skip = "it was given a texture or surface object, whose array is not copied"
	case bytes > recalled:
		skip = fmt.Sprintf("it was given %d bytes, at most %d are copied for a replay", bytes, int64(recalled))
	}
	if skip == "" && !t.fits(l, memory) && !d.beginSnapshot(s, l, t, bytes) {
		skip = "there was no room on the host to copy what it was given"
	}
	if skip != "" {
		t.missed, t.why = names(launches), skip
		changed(memory, nil)
		return false
	}
	t.last[0].add(s, memory, launches)
	return true
}

// miss notes why launches are not recorded.
func (r *recall) miss(s *stream, launches []*gpu.Launch, why string) {
	t := r.history(s.handle)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missed, t.why = names(launches), why
}

func names(launches []*gpu.Launch) (names []string) {
	for _, l := range launches {
		names = append(names, l.Entry.Name())
	}
	return names
}

// given appends the memory that launches may use: their buffers and their modules'
// variables.
func given(memory []*allocation, launches ...*gpu.Launch) (all []*allocation, bytes int64) {
	add := func(a *allocation) {
		if a.bytes >= 0 && !slices.Contains(memory, a) {
			memory, bytes = append(memory, a), bytes+a.bytes
		}
	}
	for _, l := range launches {
		for _, b := range gpu.Buffers(*l) {
			add(b.(*buffer).memory)
		}
		m := l.Entry.(*entry).module
		m.mu.Lock()
		for _, a := range m.variables {
			add(a)
		}
		m.mu.Unlock()
	}
	return memory, bytes
}

// changed ends all snapshots except one that have copies of the memory, because
// other work than their launches changes the memory.
func changed(memory []*allocation, but *snapshot) {
	for _, a := range memory {
		if e := a.snapshot.Load(); e != but {
			a.snapshot.Store(nil)
		}
	}
}

// history is the history of a stream.
func (r *recall) history(stream uint32) *history {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.histories == nil {
		r.histories = map[uint32]*history{}
	}
	if r.histories[stream] == nil {
		r.histories[stream] = &history{}
	}
	return r.histories[stream]
}

// fits reports whether a launch can join the history's current snapshot; t.mu is held.
func (t *history) fits(l *link, memory []*allocation) bool {
	e := t.last[0]
	if e == nil || e.area == nil || e.link != l || e.full() {
		return false
	}
	for _, c := range e.memory {
		if c.memory.snapshot.Load() != e { // other work has changed the memory
			return false
		}
	}
	used := e.used
	for _, a := range memory {
		if a.snapshot.Load() != e {
			used += a.bytes
		}
	}
	return used <= e.area.span.bytes
}

// full reports whether the snapshot accepts no more launches.
func (e *snapshot) full() bool {
	n := len(e.launches)
	return n >= longest || n >= together && e.threads >= light
}

// beginSnapshot begins a snapshot with room for so many bytes. It waits for the end of the
// oldest snapshot, which was requested one snapshot ago, and takes over its area;
// t.mu is held.
func (d *Device) beginSnapshot(s *stream, l *link, t *history, bytes int64) bool {
	last, before, oldest := t.last[0], t.last[1], t.last[2]
	if last != nil && last.link == l {
		if last.event == 0 {
			last.event = d.handle()
			l.post(&command.NewEvent{Event: last.event})
		}
		l.post(&command.Record{Stream: s.handle, Event: last.event})
	}
	if before != nil && before.link == l && len(before.launches) > 0 {
		before.ended = l.ask(&command.SyncEvent{Event: before.event})
	}
	next := &snapshot{}
	if oldest != nil {
		if oldest.link == l && oldest.ended != nil {
			<-oldest.ended // its error comes again
		}
		next = oldest.emptied()
	}
	if next.link != l {
		next.link, next.event = l, 0
	}
	t.last = [3]*snapshot{next, last, before}
	return d.reserve(next, l, bytes)
}

// emptied is a new snapshot that reuses the memory of an ended one.
func (e *snapshot) emptied() *snapshot {
	clear(e.launches) // of what they refer to
	return &snapshot{link: e.link, area: e.area, event: e.event, memory: e.memory[:0], launches: e.launches[:0]}
}

// reserve gives a snapshot an area for so many bytes: at least 1 MiB, and twice the
// needed size, because the memory of launches grows over time.
func (d *Device) reserve(e *snapshot, l *link, bytes int64) bool {
	if e.area == nil || e.area.span.bytes < bytes {
		if e.area != nil {
			l.call(&command.Unregister{Offset: e.area.span.offset})
			d.arena.give(e.area.span)
		}
		size := min(max(1<<20, 2*bytes), recalled)
		area, err := d.newHost(gpu.Uint8, int(size), size)
		if err != nil {
			e.area = nil
			return false
		}
		e.area = area
	}
	return e.area.prepare(l)
}

// prepare is register without a check of the answer: the launch itself reports an
// error of the worker.
func (h *host) prepare(l *link) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.registered == l {
		return true
	}
	a, err := l.call(&command.Register{Offset: h.span.offset, Bytes: h.span.bytes})
	if err == nil && a.Code == 0 {
		h.registered = l
	}
	return h.registered == l
}

// add copies the memory that the snapshot does not hold yet, and notes the launches;
// the history's lock is held.
func (e *snapshot) add(s *stream, memory []*allocation, launches []*gpu.Launch) {
	changed(memory, e)
	for _, a := range memory {
		if a.snapshot.Load() == e {
			continue
		}
		a.snapshot.Store(e)
		e.memory = append(e.memory, copied{a, e.used})
		e.link.post(&command.Copy{Stream: s.handle, Dst: command.Place{Offset: e.area.span.offset + e.used},
			Src: command.Place{Buffer: a.handle}, Bytes: a.bytes})
		e.used += a.bytes
	}
	for _, l := range launches {
		launch := *l
		launch.Args, launch.Zero = slices.Clone(launch.Args), slices.Clone(launch.Zero)
		e.launches = append(e.launches, launch)
		e.threads += launch.Grid.Size() * launch.Block.Size()
	}
}

// finished forgets the launches of a stream after they ended without a fault.
func (r *recall) finished(stream uint32) {
	r.mu.Lock()
	t := r.histories[stream]
	r.mu.Unlock()
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, e := range t.last {
		if e != nil {
			t.last[i] = e.emptied()
		}
	}
}

// forget drops the history of a stream.
func (r *recall) forget(stream uint32) {
	r.mu.Lock()
	t := r.histories[stream]
	delete(r.histories, stream)
	r.mu.Unlock()
	if t != nil {
		t.close()
	}
}

// interrupt ends a replay.
func (r *recall) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop(gpu.ErrInterrupted)
	}
}

// take removes all histories, so that no launch is recorded on them.
func (r *recall) take() []*history {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := slices.Collect(maps.Values(r.histories))
	clear(r.histories)
	return taken
}

// close frees the host memory of the history.
func (t *history) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.last {
		if e != nil && e.area != nil {
			e.area.Free()
		}
	}
	t.last = [3]*snapshot{}
}

// cause replays the launches that may have caused a fault on the emulator. If the
// replay finds no cause, a note gives the reason.
func (d *Device) cause(histories []*history, l *link, suspects []command.Suspect) (fault *gpu.Fault, note string) {
	if d.config.Emulator == nil {
		return nil, ""
	}
	stop, cancel := context.WithCancelCause(context.Background())
	stop, done := context.WithTimeoutCause(stop, replayTime, fmt.Errorf("it takes longer than %v", replayTime))
	defer done()
	d.recall.mu.Lock()
	d.recall.stop = cancel
	d.recall.mu.Unlock()
	note = "its memory was not copied before it ran, as in a timed loop"
	for _, t := range histories {
		found, why := t.replay(stop, d, l, suspects)
		if found != nil || stop.Err() != nil {
			return found, why
		}
		if why != "" {
			note = why
		}
	}
	return nil, note
}

// replay runs the snapshots of a history with one of the suspects.
func (t *history) replay(stop context.Context, d *Device, l *link, suspects []command.Suspect) (fault *gpu.Fault, note string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	open := func() (gpu.Device, error) { return d.config.Emulator(d.info) }
	if slices.ContainsFunc(suspects, func(s command.Suspect) bool { return slices.Contains(t.missed, s.Entry) }) {
		note = t.why
	}
	for _, e := range slices.Backward(t.last[:]) {
		if e == nil || e.link != l || !e.hasOne(suspects) {
			continue
		}
		found, err := replay.Run(stop, open, e.log())
		if found != nil {
			return found, ""
		}
		if note = "it ends without a fault on the emulator"; err != nil {
			note = err.Error()
		}
	}
	return nil, note
}

// hasOne reports whether one of the launches is in the snapshot.
func (e *snapshot) hasOne(suspects []command.Suspect) bool {
	return slices.ContainsFunc(e.launches, func(l gpu.Launch) bool {
		return slices.ContainsFunc(suspects, func(s command.Suspect) bool { return s.Entry == l.Entry.Name() })
	})
}

// log is the snapshot in the form that a replay takes.
func (e *snapshot) log() replay.Log {
	var log replay.Log
	modules := map[*module]*replay.Module{}
	at := map[*allocation]int{}
	for _, l := range e.launches {
		m := l.Entry.(*entry).module
		if modules[m] == nil {
			modules[m] = &replay.Module{Name: m.text.Name, Text: m.load.Text}
		}
	}
	for i, c := range e.memory {
		at[c.memory] = i
		log.Memory = append(log.Memory, replay.Memory{
			Label: c.memory.labelled(), Type: c.memory.typ, Contents: e.area.bytes()[c.offset : c.offset+c.memory.bytes],
			Module: modules[c.memory.module], Variable: c.memory.what,
		})
	}
	for _, l := range e.launches {
		again, _ := gpu.WithBuffers(l, func(b gpu.Buffer) (gpu.Buffer, error) { return b.(*buffer).part(at), nil })
		log.Launches = append(log.Launches, replay.Launch{Launch: again, Module: modules[l.Entry.(*entry).module], Name: l.Entry.Name()})
	}
	return log
}

// part is the buffer as a part of a log's memory.
func (b *buffer) part(at map[*allocation]int) replay.Part {
	return replay.Part{Memory: at[b.memory], Start: int(b.offset) / b.typ.Bytes(), Elements: b.n}
}
