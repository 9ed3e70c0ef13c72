package cuda

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// Config holds the options of a device.
type Config struct {
	// Number of the GPU, as the driver counts: the first is 0.
	Number int

	// Worker is the command that runs the worker; empty is the one that was
	// installed.
	Worker []string

	// Emulator opens the emulator of a GPU, on which a launch that faulted is
	// run again to find the exact cause; nil is none, and no launch is copied.
	Emulator func(gpu.Info) (gpu.Device, error)

	// Notice, if not nil, receives messages for the user while a call takes long.
	Notice func(line string)
}

// Device is a GPU and the worker that it has at present.
type Device struct {
	config Config
	info   gpu.Info
	arena  *arena
	ring   ring
	main   stream // the device's own
	recall recall

	handles    atomic.Uint32  // given out last; never used twice
	interrupts *atomic.Uint32 // how often Interrupt was called; the workers see it
	stopAt     int64          // where it is in the arena
	streams    atomic.Int64   // that NewStream made and that are not closed
	stopping   atomic.Bool    // an interrupt waits for the worker
	ending     atomic.Int64   // time in ns until which calls may still return because of an interrupt

	observer atomic.Pointer[gpu.Observer]

	starting sync.Mutex // held by the goroutine that starts a worker; guards config.Worker

	mu      sync.Mutex
	link    *link                  // guarded by mu
	closed  bool                   // guarded by mu
	buffers map[uint32]*allocation // not freed; guarded by mu
}

// Open opens a GPU and starts its first worker.
func Open(config Config) (*Device, error) {
	if len(config.Worker) == 0 {
		path, err := findWorker()
		if err != nil {
			return nil, err
		}
		config.Worker = []string{path}
	}
	shared, err := sharedArena()
	if err != nil {
		return nil, err
	}
	d := &Device{config: config, arena: shared, buffers: map[uint32]*allocation{}}
	d.main.dev = d
	d.stopAt, d.interrupts = shared.word()
	l, err := d.worker()
	if err != nil {
		return nil, err
	}
	d.info = describe(l.hello)
	return d, nil
}

// describe makes the gpu.Info of a worker's hello.
func describe(h command.Hello) gpu.Info {
	a := func(i command.Attribute) int { return int(h.Attributes[i]) }
	return gpu.Info{
		Name: h.Name, UUID: h.UUID, Driver: driverName(h.Driver), PTX: newestPTX(h.Driver),
		Compute: gpu.Compute{Major: a(command.Major), Minor: a(command.Minor)},
		SMs:     a(command.SMs), GlobalBytes: h.Bytes, L2Bytes: h.Attributes[command.L2Bytes],
		SharedPerBlock: a(command.SharedPerBlock), SharedPerBlockMax: a(command.SharedPerBlockMax),
		SharedPerSM: a(command.SharedPerSM), RegistersPerSM: a(command.RegistersPerSM),
		ThreadsPerBlock: a(command.ThreadsPerBlock), ThreadsPerSM: a(command.ThreadsPerSM), BlocksPerSM: a(command.BlocksPerSM),
		MaxGrid:  gpu.Dim{X: a(command.GridX), Y: a(command.GridY), Z: a(command.GridZ)},
		MaxBlock: gpu.Dim{X: a(command.BlockX), Y: a(command.BlockY), Z: a(command.BlockZ)},
	}
}

// Info describes the GPU.
func (d *Device) Info() gpu.Info { return d.info }

// current is the device's worker; nil if it has no running worker.
func (d *Device) current() (*link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("%w: the device was closed", gpu.ErrClosed)
	}
	if d.link != nil && d.link.err() == nil {
		return d.link, nil
	}
	return nil, nil
}

// worker is the device's worker; a fresh one if the last has ended.
func (d *Device) worker() (*link, error) {
	if l, err := d.current(); l != nil || err != nil {
		return l, err
	}
	d.starting.Lock()
	defer d.starting.Unlock()
	if l, err := d.current(); l != nil || err != nil {
		return l, err
	}
	command := append(slices.Clone(d.config.Worker), "-device="+strconv.Itoa(d.config.Number))
	wait := patience
	if d.observer.Load() != nil { // it runs under a tool
		wait = toolPatience
	}
	l, err := dial(command[0], command[1:], d.arena, wait)
	if err != nil {
		return nil, err
	}
	// A device that is garbage-collected without Close must not leave a context.
	runtime.AddCleanup(d, func(l *link) { l.end(errClosed) }, l)
	d.mu.Lock()
	closed := d.closed
	if !closed {
		d.link = l
	}
	d.mu.Unlock()
	if closed {
		l.finish(errClosed)
		return nil, errClosed
	}
	return l, d.restore(l)
}

var errClosed = fmt.Errorf("%w: the device was closed", gpu.ErrClosed)

func (d *Device) usable(what string) error {
	if _, err := d.current(); err != nil {
		return fmt.Errorf("cuda: %s: %w", what, err)
	}
	return nil
}

// handle is a new handle.
func (d *Device) handle() uint32 { return d.handles.Add(1) }

// do lets a worker execute a command and turns its answer into an error. The
// parameter what names the operation and its object for the error.
func (d *Device) do(l *link, c command.Command, what string) (command.Answer, error) {
	a, err := l.call(c)
	if f, ok := err.(*gpu.Fault); ok {
		return a, f
	}
	if err != nil {
		return a, fmt.Errorf("cuda: %s: %w", what, err)
	}
	return a, d.judge(l, a, what)
}

// wait is do for a command that waits for work on the device: it is an error
// if the device was interrupted meanwhile.
func (d *Device) wait(l *link, c command.Command, what string) (command.Answer, error) {
	before := d.interrupts.Load()
	a, err := d.do(l, c, what)
	if err == nil && d.interrupts.Load() != before {
		err = fmt.Errorf("cuda: %s: %w: the work ended by itself within %v, no buffer is lost", what, gpu.ErrInterrupted, grace)
	}
	return a, err
}

// Launch submits a launch.
func (d *Device) Launch(l gpu.Launch) error { return d.main.Launch(l) }

// Copy submits a copy.
func (d *Device) Copy(dst, src gpu.Memory) error { return d.main.Copy(dst, src) }

// Zero submits the clearing of a buffer.
func (d *Device) Zero(b gpu.Buffer) error { return d.main.Zero(b) }

// AllocAsync makes device memory for later work.
func (d *Device) AllocAsync(t gpu.Type, n int) (gpu.Buffer, error) { return d.main.AllocAsync(t, n) }

// FreeAsync releases device memory after the work that was submitted.
func (d *Device) FreeAsync(b gpu.Buffer) error { return d.main.FreeAsync(b) }

// Record submits the recording of an event.
func (d *Device) Record(e gpu.Event) error { return d.main.Record(e) }

// Wait makes later work wait for an event.
func (d *Device) Wait(e gpu.Event) error { return d.main.Wait(e) }

// Sync waits for the work of the device's default stream.
func (d *Device) Sync() error { return d.main.Sync() }

// Close ends the worker and loses everything on it.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return fmt.Errorf("cuda: close: %w: the device was closed before", gpu.ErrClosed)
	}
	d.closed = true
	l := d.link
	d.mu.Unlock()
	if l != nil {
		l.finish(errClosed)
	}
	d.ring.close()
	for _, t := range d.recall.take() {
		t.close()
	}
	return nil
}

// Time measures launches inside the worker, one message for all of it.
func (d *Device) Time(t gpu.Timing, launches ...gpu.Launch) ([]time.Duration, error) {
	if t.Repeats < 1 || t.Warmup < 0 || len(launches) == 0 {
		return nil, fmt.Errorf("cuda: time: %w: %d launches, %d untimed and %d timed runs, expected at least 1 launch and 1 timed run",
			gpu.ErrArgument, len(launches), t.Warmup, t.Repeats)
	}
	if err := d.main.captured.Refuse("time"); err != nil {
		return nil, err
	}
	if d.observer.Load() != nil {
		return nil, fmt.Errorf("cuda: time: %w under a profiler or sanitizer: the time would be the tool's", gpu.ErrUnsupported)
	}
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: time: %w", err)
	}
	c := &command.Time{StopAt: d.stopAt, Interrupts: d.interrupts.Load(), Warmup: uint32(t.Warmup), Repeats: uint32(t.Repeats), Flush: t.Flush, Graph: t.Graph}
	for _, launch := range launches {
		encoded, err := d.encode(l, launch)
		if err != nil {
			return nil, err
		}
		c.Launches = append(c.Launches, encoded)
	}
	l.note(launches[0].Entry.Name(), &c.Launches[0])
	a, err := d.wait(l, c, "time "+launches[0].Entry.Name())
	if err != nil {
		return nil, err
	}
	for _, launch := range launches {
		d.changed(launch)
		memory, _ := given(nil, &launch)
		changed(memory, nil)
	}
	d.mirrorAll(l)
	times := make([]time.Duration, len(a.Values))
	for i, ns := range a.Values {
		times[i] = max(1, time.Duration(ns))
	}
	return times, nil
}
