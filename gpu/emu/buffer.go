package emu

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
)

// buffer is an allocation, or a view into one.
type buffer struct {
	dev    *Device
	memory *mem.Allocation
	typ    gpu.Type
	offset int // bytes
	n      int // elements
	view   bool
	fixed  bool // a module's variable: the module frees it
}

// Alloc returns memory that counts as never written.
func (d *Device) Alloc(t gpu.Type, n int) (gpu.Buffer, error) {
	if err := d.usable("alloc"); err != nil {
		return nil, err
	}
	bytes, err := gpu.CheckAlloc(t, n)
	if err != nil {
		return nil, err
	}
	a, err := d.mem.Alloc(bytes, fmt.Sprintf("a buffer of %d %v", n, t))
	if err != nil {
		return nil, err
	}
	return &buffer{dev: d, memory: a, typ: t, n: n}, nil
}

// Adopt makes a buffer of bytes of memory that something else writes, too: of a program whose
// host shares it. It counts as written. It is aligned to 8 bytes, 8 bytes that follow it can
// be read, and it outlives the device.
func (d *Device) Adopt(memory []byte) (gpu.Buffer, error) {
	if err := d.usable("adopt"); err != nil {
		return nil, err
	}
	if len(memory) == 0 {
		return nil, fmt.Errorf("emu: adopt: %w: no memory", gpu.ErrArgument)
	}
	a, err := d.mem.Adopt(memory, fmt.Sprintf("a buffer of %d %v", len(memory), gpu.Uint8))
	if err != nil {
		return nil, err
	}
	return &buffer{dev: d, memory: a, typ: gpu.Uint8, n: len(memory)}, nil
}

// Address is where kernels see a buffer of the emulator. It stays that of the buffer after
// its end: no later one has it.
func Address(b gpu.Buffer) (uint64, error) {
	x, ok := b.(*buffer)
	if !ok {
		return 0, fmt.Errorf("emu: address: %w: %T is not memory of the emulator", gpu.ErrArgument, b)
	}
	return x.address(), nil
}

func (b *buffer) Type() gpu.Type { return b.typ }
func (b *buffer) Len() int       { return b.n }

// Label names the buffer in faults.
func (b *buffer) Label(name string) gpu.Buffer {
	b.memory.Rename("buffer " + name)
	return b
}

func (b *buffer) address() uint64 { return b.memory.Address() + uint64(b.offset) }

// bytes is the memory of the buffer.
func (b *buffer) bytes() ([]byte, *mem.Contents, error) {
	c := b.memory.Contents.Load()
	if c == nil {
		return nil, nil, fmt.Errorf("%w: %s was freed", gpu.ErrClosed, b.memory.Name())
	}
	return c.Data[b.offset : b.offset+b.n*b.typ.Bytes()], c, nil
}

// whole is the range of the buffer, for the search for races between streams.
func (b *buffer) whole() engine.Range {
	return engine.Range{Memory: b.memory, Start: b.offset, Bytes: b.n * b.typ.Bytes()}
}

// View is part of the buffer.
func (b *buffer) View(start, n int) (gpu.Buffer, error) {
	if start < 0 || n < 0 || start > b.n || n > b.n-start {
		return nil, fmt.Errorf("emu: view of %s: %w: elements %d to %d, expected within 0 to %d",
			b.memory.Name(), gpu.ErrArgument, start, start+n, b.n)
	}
	if _, _, err := b.bytes(); err != nil {
		return nil, fmt.Errorf("emu: view: %w", err)
	}
	return &buffer{dev: b.dev, memory: b.memory, typ: b.typ, offset: b.offset + start*b.typ.Bytes(), n: n, view: true, fixed: b.fixed}, nil
}

// Place is the buffer's range of bytes.
func (b *buffer) Place() (gpu.Place, error) {
	data, _, err := b.bytes()
	if err != nil {
		return gpu.Place{}, fmt.Errorf("gpu: place: %w", err)
	}
	return gpu.Place{Device: b.dev, Memory: b.memory, Start: int64(b.offset), Bytes: int64(len(data))}, nil
}

// Upload copies a slice to the buffer.
func (b *buffer) Upload(slice any) error {
	host, err := gpu.SliceBytes(slice, b.typ, b.n)
	if err != nil {
		return fmt.Errorf("emu: upload to %s: %w", b.memory.Name(), err)
	}
	b.dev.run.lockToWrite()
	defer b.dev.run.Unlock()
	b.dev.order.syncAll()
	data, c, err := b.bytes()
	if err != nil {
		return fmt.Errorf("emu: upload: %w", err)
	}
	copy(data, host)
	c.Wrote(b.offset, len(data))
	return nil
}

// Download copies the buffer to a slice.
func (b *buffer) Download(slice any) error {
	host, err := gpu.SliceBytes(slice, b.typ, b.n)
	if err != nil {
		return fmt.Errorf("emu: download of %s: %w", b.memory.Name(), err)
	}
	b.dev.run.Lock()
	defer b.dev.run.Unlock()
	b.dev.order.syncAll()
	data, _, err := b.bytes()
	if err != nil {
		return fmt.Errorf("emu: download: %w", err)
	}
	copy(host, data)
	return nil
}

// Keep does nothing: no fault destroys a buffer of the emulator.
func (b *buffer) Keep() error {
	if b.fixed {
		return fmt.Errorf("emu: keep: %w: %s is a variable of a module", gpu.ErrArgument, b.memory.Name())
	}
	if _, _, err := b.bytes(); err != nil {
		return fmt.Errorf("emu: keep: %w", err)
	}
	return nil
}

// Free ends the buffer's life, also for a running launch.
func (b *buffer) Free() error {
	switch {
	case b.view:
		return fmt.Errorf("emu: free: %w: a view of %s, free the buffer itself", gpu.ErrArgument, b.memory.Name())
	case b.fixed:
		return fmt.Errorf("emu: free: %w: %s is a variable of a module, close the module", gpu.ErrArgument, b.memory.Name())
	case !b.dev.mem.Free(b.memory):
		return fmt.Errorf("emu: free: %w: %s was freed before", gpu.ErrClosed, b.memory.Name())
	}
	return nil
}

// host is Go memory.
type host struct {
	dev   *Device
	typ   gpu.Type
	slice any
	data  []byte
	freed atomic.Bool
}

// AllocHost returns Go memory: transfers of the emulator need no pinned memory.
func (d *Device) AllocHost(t gpu.Type, n int) (gpu.Host, error) {
	if err := d.usable("alloc host"); err != nil {
		return nil, err
	}
	if _, err := gpu.CheckAlloc(t, n); err != nil {
		return nil, err
	}
	slice := gpu.NewSlice(t, n)
	data, err := gpu.SliceBytes(slice, t, n)
	return &host{dev: d, typ: t, slice: slice, data: data}, err
}

func (h *host) Type() gpu.Type { return h.typ }
func (h *host) Len() int       { return reflect.ValueOf(h.slice).Len() }
func (h *host) Slice() any     { return h.slice }

func (h *host) bytes() ([]byte, error) {
	if h.freed.Load() {
		return nil, fmt.Errorf("%w: host memory of %d %v was freed", gpu.ErrClosed, h.Len(), h.typ)
	}
	return h.data, nil
}

// Free drops the reference, so that Go can collect the memory.
func (h *host) Free() error {
	if h.freed.Swap(true) {
		return fmt.Errorf("emu: free host memory: %w: it was freed before", gpu.ErrClosed)
	}
	return nil
}
