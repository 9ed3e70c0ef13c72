//go:build cuda

package main

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// loaded is a module and the handles that it brought.
type loaded struct {
	module           module
	entries, buffers []uint32
}

// entry is a function that can be launched.
type entry struct {
	name     string
	function function
	shared   uint32 // dynamic bytes that it may have
	large    bool   // its clusters may have more than 8 blocks
}

// withoutAsking is the shared memory that every function may have without opting
// in: dynamic and static together.
const withoutAsking = 48 << 10

func (w *worker) load(c *command.Load) ([]int64, error) {
	m, err := loadModule(c.Text)
	if err != nil {
		return nil, err
	}
	l := &loaded{module: m}
	w.modules[c.Module] = l
	values, err := w.resolve(l, c)
	if err != nil {
		w.unload(c.Module)
		return nil, err
	}
	return values, nil
}

// resolve gives a module's entries and variables their handles.
func (w *worker) resolve(l *loaded, c *command.Load) (values []int64, err error) {
	if len(c.Offsets) != len(c.Entries) {
		return nil, fmt.Errorf("offsets of %d entries, expected %d", len(c.Offsets), len(c.Entries))
	}
	for i, name := range c.Entries {
		f, err := l.module.function(name, slices.Clone(c.Offsets[i]))
		if err != nil {
			return nil, err
		}
		a, err := f.attributes()
		if err != nil {
			return nil, err
		}
		number := c.FirstEntry + uint32(i)
		l.entries = append(l.entries, number)
		w.entries[number] = &entry{name: name, function: f, shared: max(0, withoutAsking-uint32(a[2]))}
		values = append(values, a...)
	}
	for i, name := range c.Variables {
		at, bytes, err := l.module.variable(name)
		if err != nil { // the assembler removed the variable, because no code uses it
			values = append(values, -1)
			continue
		}
		number := c.FirstBuffer + uint32(i)
		l.buffers = append(l.buffers, number)
		w.buffers[number] = memory{at: at, bytes: bytes}
		values = append(values, bytes)
	}
	return values, nil
}

func (w *worker) unload(number uint32) error {
	l, err := find(w.modules, number, "module")
	if err != nil {
		return err
	}
	delete(w.modules, number)
	for _, n := range l.entries {
		delete(w.entries, n)
	}
	for _, n := range l.buffers {
		delete(w.buffers, n)
	}
	if err := cu.Synchronize(); err != nil {
		return wrap(err, "sync")
	}
	return l.module.unload()
}

// ready is a launch whose handles were looked up.
type ready struct {
	entry       *entry
	shape       [6]uint32
	shared      uint32
	cooperative bool
	cluster     [3]uint32 // 0 if the launch gives none
	params      []byte
	zero        []memory
}

// prepare looks up a launch's handles and puts addresses into its parameters.
// It reuses the memory of r.
func (w *worker) prepare(c *command.Launch, r *ready) (err error) {
	*r = ready{shared: c.Shared, cooperative: c.Cooperative, cluster: c.Cluster, params: c.Params, zero: r.zero[:0]}
	copy(r.shape[:3], c.Grid[:])
	copy(r.shape[3:], c.Block[:])
	if r.entry, err = find(w.entries, c.Entry, "entry"); err != nil {
		return err
	}
	for _, a := range c.Addresses {
		at, err := w.part(command.Range{Buffer: a.Buffer, Offset: a.Offset})
		if err != nil {
			return err
		}
		if int64(a.At)+8 > int64(len(r.params)) {
			return fmt.Errorf("address at byte %d of %d bytes of parameters", a.At, len(r.params))
		}
		binary.LittleEndian.PutUint64(r.params[a.At:], uint64(at))
	}
	for i := range c.Maps {
		if err := w.encodeMap(&c.Maps[i], r.params); err != nil {
			return err
		}
	}
	for _, z := range c.Zero {
		at, err := w.part(z)
		if err != nil {
			return err
		}
		r.zero = append(r.zero, memory{at: at, bytes: z.Bytes})
	}
	if c.Large {
		if err := r.entry.allowLarge(); err != nil {
			return err
		}
	}
	return r.entry.allowShared(r.shared)
}

// allowShared lets the entry have so much dynamic shared memory.
func (e *entry) allowShared(bytes uint32) error {
	if bytes <= e.shared {
		return nil
	}
	err := e.function.allowShared(bytes)
	if err == nil {
		e.shared = bytes
	}
	return err
}

// allowLarge lets clusters of the entry have more than 8 blocks.
func (e *entry) allowLarge() error {
	if e.large {
		return nil
	}
	err := e.function.allowLarge()
	e.large = err == nil
	return err
}

// submit puts a launch into a stream.
func (r *ready) submit(s cu.Stream) error {
	for _, z := range r.zero {
		if z.bytes == 0 {
			continue
		}
		if err := cu.MemsetD8Async(z.at, 0, z.bytes, s); err != nil {
			return wrap(err, "zero")
		}
	}
	return r.entry.function.launch(&r.shape, &r.cluster, r.shared, r.cooperative, s, r.params)
}

func (r *ready) describe() command.Suspect {
	return command.Suspect{Entry: r.entry.name, Grid: [3]uint32(r.shape[:3]), Block: [3]uint32(r.shape[3:]), Shared: r.shared}
}

func (w *worker) launch(c *command.Launch) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	r := &w.next
	if err := w.prepare(c, r); err != nil {
		return err
	}
	if err := w.mark(s, group{launch: r.describe()}); err != nil {
		return err
	}
	return r.submit(s.stream)
}

func (w *worker) occupancy(c *command.Occupancy) ([]int64, error) {
	e, err := find(w.entries, c.Entry, "entry")
	if err != nil {
		return nil, err
	}
	if err := e.allowShared(c.Shared); err != nil {
		return nil, err
	}
	n, err := e.function.occupancy(c.Threads, c.Shared)
	return []int64{n}, err
}

func (w *worker) clusters(c *command.Clusters) ([]int64, error) {
	e, err := find(w.entries, c.Entry, "entry")
	if err != nil {
		return nil, err
	}
	if err := e.allowShared(c.Shared); err != nil {
		return nil, err
	}
	if c.Large {
		if err := e.allowLarge(); err != nil {
			return nil, err
		}
	}
	return e.function.clusters(&c.Block, &c.Cluster, c.Shared)
}
