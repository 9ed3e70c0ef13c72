package cuda

import (
	"fmt"
	"slices"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// allocation is device memory. It lives in one worker, until it is freed or
// the worker ends.
type allocation struct {
	handle uint32
	bytes  int64
	typ    gpu.Type
	what   string                 // "a buffer of 100 float32"
	label  atomic.Pointer[string] // the argument of Label
	link   atomic.Pointer[link]
	freed  atomic.Bool
	module *module // of a variable; what is its name

	snapshot atomic.Pointer[snapshot] // that has a copy and all changes since: see recall.go

	kept   atomic.Bool // Keep was called: see keep.go
	dirty  atomic.Bool // may differ from the mirror
	mirror atomic.Pointer[host]
}

func (a *allocation) name() string {
	if l := a.label.Load(); l != nil {
		return fmt.Sprintf("buffer %s (%d bytes)", *l, a.bytes)
	}
	if a.module != nil {
		return "variable " + a.what
	}
	return a.what
}

// labelled is the name that Label gave, "" for none.
func (a *allocation) labelled() string {
	if l := a.label.Load(); l != nil {
		return *l
	}
	return ""
}

// usable returns an error if the memory is not in a worker.
func (a *allocation) usable(l *link) error {
	if a.freed.Load() {
		return fmt.Errorf("%w: %s was freed", gpu.ErrClosed, a.name())
	}
	if in := a.link.Load(); in != l {
		return fmt.Errorf("%w: %s was lost with its worker: allocate it again: %v", gpu.ErrClosed, a.name(), in.err())
	}
	return nil
}

// written notes a change by other work than a launch.
func (a *allocation) written() {
	a.dirty.Store(true)
	a.snapshot.Store(nil)
}

// buffer is an allocation, or a view into one.
type buffer struct {
	dev    *Device
	memory *allocation
	typ    gpu.Type
	offset int64 // bytes
	n      int   // elements
	view   bool
}

// Alloc makes device memory.
func (d *Device) Alloc(t gpu.Type, n int) (gpu.Buffer, error) {
	if err := d.usable("alloc"); err != nil {
		return nil, err
	}
	bytes, err := gpu.CheckAlloc(t, n)
	if err != nil {
		return nil, err
	}
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: alloc: %w", err)
	}
	a := &allocation{handle: d.handle(), bytes: bytes, typ: t, what: fmt.Sprintf("a buffer of %d %v", n, t)}
	if err := d.allocate(l, a); err != nil {
		return nil, err
	}
	d.remember(a)
	return &buffer{dev: d, memory: a, typ: t, n: n}, nil
}

// AllocAsync allocates device memory for later work of the stream. Only that work
// may use it without an event.
func (s *stream) AllocAsync(t gpu.Type, n int) (gpu.Buffer, error) {
	bytes, err := gpu.CheckAlloc(t, n)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("alloc async")
	if err != nil {
		return nil, err
	}
	if err := s.captured.Refuse("alloc async"); err != nil {
		return nil, err
	}
	d := s.dev
	if err := d.checkSize(bytes); err != nil {
		return nil, err
	}
	a := &allocation{handle: d.handle(), bytes: bytes, typ: t, what: fmt.Sprintf("a buffer of %d %v", n, t)}
	c := &command.AllocAsync{Stream: s.handle, Buffer: a.handle, Bytes: bytes}
	if _, err := d.do(l, c, fmt.Sprintf("alloc async %d bytes", bytes)); err != nil {
		return nil, err
	}
	a.link.Store(l)
	d.remember(a)
	return &buffer{dev: d, memory: a, typ: t, n: n}, nil
}

// FreeAsync releases device memory after the work on the stream.
func (s *stream) FreeAsync(b gpu.Buffer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.enter("free async")
	if err != nil {
		return err
	}
	if err := s.captured.Refuse("free async"); err != nil {
		return err
	}
	if err := s.dev.own(l, b); err != nil {
		return fmt.Errorf("cuda: free async: %w", err)
	}
	x := b.(*buffer)
	s.busy = true
	return x.release(&command.FreeAsync{Stream: s.handle, Buffer: x.memory.handle})
}

// remember keeps an allocation until it is freed.
func (d *Device) remember(a *allocation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.buffers[a.handle] = a
}

// allocate makes an allocation's memory in a worker.
func (d *Device) allocate(l *link, a *allocation) error {
	if err := d.checkSize(a.bytes); err != nil {
		return err
	}
	if _, err := d.do(l, &command.Alloc{Buffer: a.handle, Bytes: a.bytes}, fmt.Sprintf("alloc %d bytes", a.bytes)); err != nil {
		return err
	}
	a.link.Store(l)
	return nil
}

// checkSize rejects a size that cannot fit, without a call of the worker.
func (d *Device) checkSize(bytes int64) error {
	if most := d.info.GlobalBytes; bytes > most {
		return fmt.Errorf("cuda: alloc: %w: %d bytes, expected at most %d on %s", gpu.ErrMemory, bytes, most, d.info.Name)
	}
	return nil
}

// living lists the allocations in a worker.
func (d *Device) living(l *link) []*allocation {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*allocation
	for _, a := range d.buffers {
		if a.link.Load() == l {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *allocation) int { return int(a.handle) - int(b.handle) })
	return list
}

func (b *buffer) Type() gpu.Type { return b.typ }
func (b *buffer) Len() int       { return b.n }

// Label names the buffer in errors.
func (b *buffer) Label(name string) gpu.Buffer {
	b.memory.label.Store(&name)
	return b
}

func (b *buffer) bytes() int64 { return int64(b.n) * int64(b.typ.Bytes()) }

func (b *buffer) place() command.Place {
	return command.Place{Buffer: b.memory.handle, Offset: b.offset}
}

func (b *buffer) span() command.Range {
	return command.Range{Buffer: b.memory.handle, Offset: b.offset, Bytes: b.bytes()}
}

// here is the worker that has the buffer's memory.
func (b *buffer) here() (*link, error) {
	if b.memory.freed.Load() {
		return nil, fmt.Errorf("%w: %s was freed", gpu.ErrClosed, b.memory.name())
	}
	l, err := b.dev.worker()
	if err != nil {
		return nil, err
	}
	return l, b.memory.usable(l)
}

// View is part of the buffer.
func (b *buffer) View(start, n int) (gpu.Buffer, error) {
	if start < 0 || n < 0 || start > b.n || n > b.n-start {
		return nil, fmt.Errorf("cuda: view of %s: %w: elements %d to %d, expected within 0 to %d",
			b.memory.name(), gpu.ErrArgument, start, start+n, b.n)
	}
	if _, err := b.here(); err != nil {
		return nil, fmt.Errorf("cuda: view: %w", err)
	}
	return &buffer{dev: b.dev, memory: b.memory, typ: b.typ, offset: b.offset + int64(start)*int64(b.typ.Bytes()), n: n, view: true}, nil
}

// Place is the buffer's range of bytes.
func (b *buffer) Place() (gpu.Place, error) {
	if _, err := b.here(); err != nil {
		return gpu.Place{}, fmt.Errorf("gpu: place: %w", err)
	}
	return gpu.Place{Device: b.dev, Memory: b.memory, Start: b.offset, Bytes: b.bytes()}, nil
}

// Upload copies a slice to the buffer.
func (b *buffer) Upload(slice any) error {
	data, err := gpu.SliceBytes(slice, b.typ, b.n)
	if err != nil {
		return fmt.Errorf("cuda: upload to %s: %w", b.memory.name(), err)
	}
	l, err := b.here()
	if err != nil {
		return fmt.Errorf("cuda: upload: %w", err)
	}
	if err := b.dev.ring.upload(b, l, data); err != nil {
		return err
	}
	b.memory.written()
	b.dev.mirrorAll(l)
	return nil
}

// Download copies the buffer to a slice.
func (b *buffer) Download(slice any) error {
	data, err := gpu.SliceBytes(slice, b.typ, b.n)
	if err != nil {
		return fmt.Errorf("cuda: download of %s: %w", b.memory.name(), err)
	}
	l, err := b.here()
	if err != nil {
		return fmt.Errorf("cuda: download: %w", err)
	}
	return b.dev.ring.download(b, l, data)
}

// Free releases the memory. Memory of a worker that has ended is already gone.
func (b *buffer) Free() error { return b.release(&command.Free{Buffer: b.memory.handle}) }

// release ends the buffer's life by a command.
func (b *buffer) release(c command.Command) error {
	switch {
	case b.view:
		return fmt.Errorf("cuda: free: %w: a view of %s, free the buffer itself", gpu.ErrArgument, b.memory.name())
	case b.memory.module != nil:
		return fmt.Errorf("cuda: free: %w: %s is a variable of a module, close the module", gpu.ErrArgument, b.memory.name())
	case b.memory.freed.Swap(true):
		return fmt.Errorf("cuda: free: %w: %s was freed before", gpu.ErrClosed, b.memory.name())
	}
	b.dev.mu.Lock()
	delete(b.dev.buffers, b.memory.handle)
	b.dev.mu.Unlock()
	b.memory.link.Load().post(c) // an error means that the worker, and so the memory, is gone
	if h := b.memory.mirror.Swap(nil); h != nil {
		return h.Free()
	}
	return nil
}
