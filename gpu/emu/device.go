package emu

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu/engine"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/loader"
)

// Device is the emulator of one GPU. Work runs when it is submitted, before
// the call returns, one launch or transfer at a time.
type Device struct {
	info gpu.Info
	mem  *mem.Memory

	// run is held by running work: all streams are one queue here.
	run      runLock
	engine   *engine.Engine
	streams  *engine.Streams // compares the work of streams; used with run held
	order    ordering
	closed   atomic.Bool
	observer atomic.Pointer[gpu.Observer]
	main     stream // the device's own

	hostWrites func() bool // see HostWrites; nil for never
}

// runLock is a mutex that counts the work that waits for it and will write memory.
type runLock struct {
	sync.Mutex
	writers atomic.Int64
}

// lockToWrite locks it for work that writes memory.
func (l *runLock) lockToWrite() {
	l.writers.Add(1)
	l.Lock()
	l.writers.Add(-1)
}

// Open returns an emulator of the named GPU; "" is the default, the H200.
func Open(profile string) (gpu.Device, error) {
	info, err := lookup(profile)
	if err != nil {
		return nil, err
	}
	return OpenAs(info)
}

// OpenAs returns an emulator of a GPU that another device has described.
func OpenAs(info gpu.Info) (gpu.Device, error) {
	info.Emulated, info.Driver, info.UUID, info.PTX, info.Checks = true, "", "", newestPTX, gpu.CheckAll|gpu.CheckBlockRaces
	d := &Device{info: info, mem: mem.New(info.GlobalBytes)}
	d.engine = engine.New(info, d.mem, resources{d})
	d.streams = engine.NewStreams(d.engine)
	d.main.dev = d
	return d, nil
}

// Info describes the GPU that the device emulates.
func (d *Device) Info() gpu.Info { return d.info }

// LimitSteps bounds the number of instructions that the warps of one block may run
// together; a block that runs more ends with gpu.ErrStepLimit. 0 is no limit.
func (d *Device) LimitSteps(n uint64) { d.engine.LimitSteps(n) }

// Leaks returns an error that names the buffers that are not freed yet, or nil.
// Variables of modules do not count. A program calls it when it believes that it has
// freed everything.
func (d *Device) Leaks() error {
	var names []string
	var bytes int
	for _, a := range d.mem.Allocations()[mem.FirstID:] {
		if a.Contents.Load() != nil && !a.Fixed.Load() {
			names = append(names, fmt.Sprintf("%s (%d bytes)", a.Name(), a.Bytes))
			bytes += a.Bytes
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("emu: %w: %d buffers of %d bytes in all were not freed: %s", gpu.ErrLeak, len(names), bytes, strings.Join(names, ", "))
}

// SetOutput sets the writer of printf in kernels, which writes when a launch has ended.
// nil, the default, is os.Stdout.
func (d *Device) SetOutput(w io.Writer) { d.engine.SetOutput(w) }

// LimitWorkers bounds the number of blocks that run at a time; 0 is one per processor.
// With one worker, blocks run in the order of their numbers and a launch is
// deterministic.
func (d *Device) LimitWorkers(n int) { d.engine.LimitWorkers(n) }

// GoOn makes later launches go on after uses of undefined values, as a GPU does: reads of
// what was never written, and lanes outside of their own masks, are warnings.
func (d *Device) GoOn(on bool) { d.engine.GoOn(on) }

// HostWrites makes launches that poll memory wait as long as may reports that a program of the
// host may yet write memory which the device has adopted. Goroutines of a launch call it. It is
// set before the first launch.
func (d *Device) HostWrites(may func() bool) { d.hostWrites = may }

// LimitVectors restricts the vector instructions that are used.
func (d *Device) LimitVectors(v simd.Vectors) { d.engine.LimitVectors(v) }

// LimitHeap bounds the bytes that kernels allocate by malloc and have not freed; 8 MiB by
// default, as on a GPU. Beyond it malloc returns a null pointer.
func (d *Device) LimitHeap(bytes int64) { d.engine.Heap().Limit(bytes) }

// LimitStack sets the bytes of a thread's stack (cudaLimitStackSize) beyond which a recursion of
// later launches is a warning; 0 is a GPU's default, 1024. The sizes of frames are the emulator's.
func (d *Device) LimitStack(bytes uint64) { d.engine.LimitStack(bytes) }

// FreeHeap frees what kernels allocated by malloc, and sets the default limit. No launch may
// run.
func (d *Device) FreeHeap() { d.engine.Heap().Clear() }

// HeapBlocks are the blocks that kernels allocated and have not freed: a line for each place
// of a call, such as "3 blocks of 48 bytes, malloc at list.cu:12".
func (d *Device) HeapBlocks() []string { return d.engine.Heap().Blocks() }

// Observe replaces the observer of the device's launches; nil removes it.
func (d *Device) Observe(o gpu.Observer) {
	if o == nil {
		d.observer.Store(nil)
		return
	}
	d.observer.Store(&o)
}

// Follow replaces the follower of the device's launches; nil removes it.
func (d *Device) Follow(f engine.Follower) { d.engine.Follow(f) }

// Interrupt ends running and submitted work.
func (d *Device) Interrupt() { d.engine.Interrupt() }

// Interrupts is the number of calls of Interrupt.
func (d *Device) Interrupts() uint64 { return d.engine.Interrupts() }

// Load parses a module; its entries are checked when they are asked for.
func (d *Device) Load(name, text string) (gpu.Module, error) {
	if err := d.usable("load " + name); err != nil {
		return nil, err
	}
	m, err := loader.Parse(d.info, name, text, func(gpu.Version) string { return "compile with an older CUDA" })
	if err != nil {
		return nil, err
	}
	return d.newModule(m)
}

func (d *Device) usable(what string) error {
	if d.closed.Load() {
		return fmt.Errorf("emu: %s: %w: the device was closed", what, gpu.ErrClosed)
	}
	return nil
}

// Time runs launches and measures the emulation.
func (d *Device) Time(t gpu.Timing, launches ...gpu.Launch) ([]time.Duration, error) {
	if t.Repeats < 1 || t.Warmup < 0 || len(launches) == 0 {
		return nil, fmt.Errorf("emu: time: %w: %d launches, %d untimed and %d timed runs, expected at least 1 launch and 1 timed run",
			gpu.ErrArgument, len(launches), t.Warmup, t.Repeats)
	}
	if err := d.main.captured.Refuse("time"); err != nil {
		return nil, err
	}
	d.order.syncAll()
	defer d.order.syncAll()
	var times []time.Duration
	epoch := d.engine.Interrupts()
	for i := range t.Warmup + t.Repeats {
		start := time.Now()
		for _, l := range launches {
			if err := d.main.launch(l, epoch); err != nil {
				return nil, err
			}
		}
		if i >= t.Warmup {
			times = append(times, max(time.Since(start), 1))
		}
	}
	return times, nil
}

// NewStream returns a stream; it shares the device with all others.
func (d *Device) NewStream() (gpu.Stream, error) {
	if err := d.usable("new stream"); err != nil {
		return nil, err
	}
	return &stream{dev: d, number: d.order.newStream()}, nil
}

// NewEvent returns an event that has not been recorded.
func (d *Device) NewEvent() (gpu.Event, error) {
	if err := d.usable("new event"); err != nil {
		return nil, err
	}
	return &event{dev: d}, nil
}

// The Stream methods of the device are those of its default stream.

// Launch runs an entry.
func (d *Device) Launch(l gpu.Launch) error { return d.main.Launch(l) }

// Copy copies between device and host memory.
func (d *Device) Copy(dst, src gpu.Memory) error { return d.main.Copy(dst, src) }

// Zero clears a buffer.
func (d *Device) Zero(b gpu.Buffer) error { return d.main.Zero(b) }

// Record notes the time.
func (d *Device) Record(e gpu.Event) error { return d.main.Record(e) }

// Wait checks that the event was recorded: work runs in the order of calls.
func (d *Device) Wait(e gpu.Event) error { return d.main.Wait(e) }

// Sync returns at once: submitted work has run.
func (d *Device) Sync() error { return d.main.Sync() }

// AllocAsync is Alloc.
func (d *Device) AllocAsync(t gpu.Type, n int) (gpu.Buffer, error) { return d.main.AllocAsync(t, n) }

// FreeAsync is Free.
func (d *Device) FreeAsync(b gpu.Buffer) error { return d.main.FreeAsync(b) }

// Close interrupts what runs and releases all memory.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return fmt.Errorf("emu: close: %w: the device was closed before", gpu.ErrClosed)
	}
	d.Interrupt()
	d.run.Lock()
	defer d.run.Unlock()
	d.mem.Close()
	d.engine.Drop()
	d.streams.Drop()
	return nil
}
