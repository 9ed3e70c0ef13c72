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

// Do executes a command. The error of a command that is not awaited is stored in its
// stream, or in the default stream if the command has no stream.
func (w *worker) Do(c command.Command, answer *command.Answer) {
	values, on, err := w.do(c)
	if err == nil {
		answer.Values = values
		return
	}
	if answer.Number == 0 {
		s := w.streams[on]
		if s == nil {
			s = w.streams[command.DefaultStream]
		}
		if s.err == nil {
			s.err = err
		}
		return
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: command.CodeProtocol, text: err.Error()}
	}
	answer.Code, answer.Text = f.code, f.text
	if answer.Suspects = w.suspects(); f.launches != nil {
		answer.Suspects = f.launches
	}
}

// do executes a command and names the stream that it is for.
func (w *worker) do(c command.Command) (values []int64, on uint32, err error) {
	switch c := c.(type) {
	case *command.Launch:
		return nil, c.Stream, w.launch(c)
	case *command.Copy:
		return nil, c.Stream, w.copy(c)
	case *command.Zero:
		return nil, c.Stream, w.zero(c.Stream, c.Range)
	case *command.Record:
		return nil, c.Stream, w.record(c)
	case *command.Wait:
		return nil, c.Stream, w.wait(c)
	case *command.LaunchGraph:
		return nil, c.Stream, w.launchGraph(c)
	case *command.FreeAsync:
		return nil, c.Stream, w.freeAsync(c)
	case *command.Sync:
		return nil, 0, w.sync(c.Stream)
	case *command.Time:
		values, err = w.time(c)
	case *command.Load:
		values, err = w.load(c)
	case *command.Occupancy:
		values, err = w.occupancy(c)
	case *command.Clusters:
		values, err = w.clusters(c)
	case *command.Elapsed:
		values, err = w.elapsed(c)
	case *command.Texture:
		values, err = w.texture(c)
	case *command.Surface:
		values, err = w.surface(c)
	case *command.OpenNCCL:
		values, err = w.openNCCL(c)
	case *command.GroupID:
		values, err = w.groupID()
	case *command.Collect:
		values, err = w.collect(c)
	case *command.PollGroup:
		values, err = w.pollGroup(c.Group)
	case *command.LeaveGroup:
		values, err = w.leaveGroup(c.Group)
	default:
		err = w.manage(c)
	}
	return values, 0, err
}

// manage executes the commands that make and release things.
func (w *worker) manage(c command.Command) error {
	switch c := c.(type) {
	case *command.Alloc:
		return w.alloc(c)
	case *command.Free:
		return w.free(c.Buffer)
	case *command.AllocAsync:
		return w.allocAsync(c)
	case *command.Register:
		return w.register(c)
	case *command.Unregister:
		return w.unregister(c)
	case *command.Unload:
		return w.unload(c.Module)
	case *command.NewStream:
		return w.newStream(c.Stream)
	case *command.CloseStream:
		return w.closeStream(c.Stream)
	case *command.NewEvent:
		return w.newEvent(c.Event)
	case *command.CloseEvent:
		return w.closeEvent(c.Event)
	case *command.Graph:
		return w.makeGraph(c)
	case *command.UpdateGraph:
		return w.updateGraph(c)
	case *command.CloseGraph:
		return w.closeGraph(c.Graph)
	case *command.Array:
		return w.newArray(c)
	case *command.CopyArray:
		return w.copyArray(c)
	case *command.FreeArray:
		return w.freeArray(c.Array)
	case *command.FreeObject:
		return freeObject(c)
	case *command.JoinGroup:
		return w.joinGroup(c)
	case *command.SyncEvent:
		e, err := find(w.events, c.Event, "event")
		if err != nil {
			return err
		}
		return wrap(e.Synchronize(), "sync")
	}
	return fmt.Errorf("command %T is not known", c)
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
