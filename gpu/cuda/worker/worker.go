//go:build cuda

package main

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// worker executes commands. All of it belongs to the main goroutine, on the
// thread of the context.
type worker struct {
	device  cu.Device
	l2      int64
	arena   []byte
	slots   []byte // pinned: a progress word a stream, see stream
	slotsAt cu.DevicePtr
	sweep   *sweep // made at first use
	next    ready  // the launch that is being submitted; here, so that it costs no allocation

	buffers map[uint32]memory
	modules map[uint32]*loaded
	entries map[uint32]*entry
	streams map[uint32]*stream
	events  map[uint32]cu.Event
	graphs  map[uint32]*nodes
	arrays  map[uint32]array
	members map[uint32]*member // of groups of NCCL
}

// memory is device memory.
type memory struct {
	at     cu.DevicePtr
	bytes  int64
	pooled bool // allocated in the order of a stream
}

// find looks up a handle; a missing handle is a bug of the client.
func find[T any](in map[uint32]T, number uint32, what string) (T, error) {
	v, ok := in[number]
	if !ok {
		return v, &failure{code: command.CodeProtocol, text: fmt.Sprintf("%s %d does not exist", what, number)}
	}
	return v, nil
}

func (w *worker) alloc(c *command.Alloc) error {
	at, err := cu.MemAlloc(max(c.Bytes, 1))
	if err != nil && emptyPool(w.device) == nil {
		at, err = cu.MemAlloc(max(c.Bytes, 1))
	}
	if err != nil {
		return left(wrap(err, "alloc"))
	}
	w.buffers[c.Buffer] = memory{at: at, bytes: c.Bytes}
	return nil
}

// left adds the amount of free memory to an error.
func left(err error) error {
	var f *failure
	if free, total, e := cu.MemInfo(); e == nil && errors.As(err, &f) {
		f.text += fmt.Sprintf(": %d of %d bytes are free", free, total)
	}
	return err
}

func (w *worker) free(number uint32) error {
	m, err := find(w.buffers, number, "buffer")
	if err != nil {
		return err
	}
	delete(w.buffers, number)
	return wrap(cu.MemFree(m.at), "free")
}

func (w *worker) allocAsync(c *command.AllocAsync) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	at, err := allocAsync(max(c.Bytes, 1), s.stream)
	if err != nil {
		return left(err)
	}
	w.buffers[c.Buffer] = memory{at, c.Bytes, true}
	return nil
}

// freeAsync frees memory after the work of a stream. For memory that is not of the
// pool it waits for the device.
func (w *worker) freeAsync(c *command.FreeAsync) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil {
		return err
	}
	m, err := find(w.buffers, c.Buffer, "buffer")
	if err != nil {
		return err
	}
	if !m.pooled {
		return w.free(c.Buffer) // cuMemFree waits for the device
	}
	delete(w.buffers, c.Buffer)
	return freeAsync(m.at, s.stream)
}

// part is the address of a part of a buffer.
func (w *worker) part(r command.Range) (cu.DevicePtr, error) {
	m, err := find(w.buffers, r.Buffer, "buffer")
	if err != nil {
		return 0, err
	}
	if r.Offset < 0 || r.Bytes < 0 || r.Offset > m.bytes-r.Bytes {
		return 0, &failure{code: command.CodeProtocol, text: fmt.Sprintf("bytes %d to %d of a buffer of %d", r.Offset, r.Offset+r.Bytes, m.bytes)}
	}
	return m.at + cu.DevicePtr(r.Offset), nil
}

// host is a part of the arena.
func (w *worker) host(offset, bytes int64) ([]byte, error) {
	if offset < 0 || bytes < 1 || offset > int64(len(w.arena))-bytes {
		return nil, &failure{code: command.CodeProtocol, text: fmt.Sprintf("bytes %d to %d of an arena of %d", offset, offset+bytes, len(w.arena))}
	}
	return w.arena[offset : offset+bytes], nil
}

func (w *worker) register(c *command.Register) error {
	m, err := w.host(c.Offset, c.Bytes)
	if err != nil {
		return err
	}
	return register(m)
}

func (w *worker) unregister(c *command.Unregister) error {
	m, err := w.host(c.Offset, 1)
	if err != nil {
		return err
	}
	if err := cu.Synchronize(); err != nil {
		return wrap(err, "sync")
	}
	return unregister(&m[0])
}

// place is an address of the host or the device; the driver distinguishes them.
func (w *worker) place(p command.Place, bytes int64) (cu.DevicePtr, error) {
	if p.Buffer != 0 {
		return w.part(command.Range{Buffer: p.Buffer, Offset: p.Offset, Bytes: bytes})
	}
	m, err := w.host(p.Offset, bytes)
	if err != nil {
		return 0, err
	}
	return cu.DevicePtr(uintptr(unsafe.Pointer(&m[0]))), nil
}

func (w *worker) copy(c *command.Copy) error {
	s, err := find(w.streams, c.Stream, "stream")
	if err != nil || c.Bytes == 0 {
		return err
	}
	dst, err := w.place(c.Dst, c.Bytes)
	if err != nil {
		return err
	}
	src, err := w.place(c.Src, c.Bytes)
	if err != nil {
		return err
	}
	return wrap(cu.MemcpyAsync(dst, src, c.Bytes, s.stream), "copy")
}

func (w *worker) zero(on uint32, r command.Range) error {
	s, err := find(w.streams, on, "stream")
	if err != nil || r.Bytes == 0 {
		return err
	}
	at, err := w.part(r)
	if err != nil {
		return err
	}
	return wrap(cu.MemsetD8Async(at, 0, r.Bytes, s.stream), "zero")
}
