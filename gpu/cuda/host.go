package cuda

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// host is a part of the arena, registered with the driver by the worker.
type host struct {
	dev   *Device
	typ   gpu.Type
	slice any
	span  span
	freed atomic.Bool

	mu         sync.Mutex
	registered *link // guarded by mu
}

// AllocHost allocates host memory from which transfers run at full speed.
func (d *Device) AllocHost(t gpu.Type, n int) (gpu.Host, error) {
	if err := d.usable("alloc host"); err != nil {
		return nil, err
	}
	bytes, err := gpu.CheckAlloc(t, n)
	if err != nil {
		return nil, err
	}
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: alloc host: %w", err)
	}
	h, err := d.newHost(t, n, bytes)
	if err != nil {
		return nil, err
	}
	if err := h.register(l); err != nil {
		d.arena.give(h.span)
		return nil, err
	}
	return h, nil
}

func (d *Device) newHost(t gpu.Type, n int, bytes int64) (*host, error) {
	s, err := d.arena.take(bytes)
	if err != nil {
		return nil, fmt.Errorf("cuda: alloc host: %w", err)
	}
	element := reflect.TypeOf(gpu.NewSlice(t, 0))
	memory := struct { // a slice header of the part
		at       unsafe.Pointer
		len, cap int
	}{unsafe.Pointer(&d.arena.memory[s.offset]), n, n}
	return &host{dev: d, typ: t, slice: reflect.NewAt(element, unsafe.Pointer(&memory)).Elem().Interface(), span: s}, nil
}

func (h *host) Type() gpu.Type { return h.typ }
func (h *host) Len() int       { return reflect.ValueOf(h.slice).Len() }
func (h *host) Slice() any     { return h.slice }

func (h *host) bytes() []byte { return h.dev.arena.memory[h.span.offset : h.span.offset+h.span.bytes] }

// register lets a worker's device transfer from the memory.
func (h *host) register(l *link) error {
	if h.freed.Load() {
		return fmt.Errorf("%w: host memory of %d %v was freed", gpu.ErrClosed, h.Len(), h.typ)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.registered == l {
		return nil
	}
	c := &command.Register{Offset: h.span.offset, Bytes: h.span.bytes}
	if _, err := h.dev.do(l, c, fmt.Sprintf("register %d bytes of host memory", h.span.bytes)); err != nil {
		return err
	}
	h.registered = l
	return nil
}

// Free releases the memory once the device no longer uses it. A slice of it then
// reads zeros, or other host memory.
func (h *host) Free() error {
	if h.freed.Swap(true) {
		return fmt.Errorf("cuda: free host memory: %w: it was freed before", gpu.ErrClosed)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l := h.registered; l != nil && l.err() == nil {
		if _, err := h.dev.do(l, &command.Unregister{Offset: h.span.offset}, "free host memory"); err != nil && l.err() == nil {
			return err // it is still registered: keep it
		}
	}
	h.dev.arena.give(h.span)
	return nil
}
