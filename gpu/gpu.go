// Package gpu is the one interface to a device that runs PTX: memory, modules,
// launches, streams, events, graphs and counters. Its main type is Device; operators,
// benches and cells call it.
//
// It holds the definitions that every device shares (data types, launch shapes,
// argument checks, faults, counters) and no device itself: gpu/emu runs PTX on
// the CPU, gpu/cuda on a GPU, gpu/device opens one by name, and gpu/gputest is
// the suite that each must pass. It must not import any of them, nor ops or kernel.
//
// Devices, buffers and streams are safe for use by several goroutines. Work on
// one stream runs in the order in which it was submitted; work on different
// streams is ordered by events alone. A device may run work at once or later:
// an error of the work itself is returned by the call that submitted it or by
// a later Sync of its stream, never lost.
package gpu

import "time"

// Device is a GPU or the emulator. Its own Stream methods act on its default
// stream, and Close releases everything that was made from it.
type Device interface {
	Stream

	// Info describes the device; it does not change while the device is open.
	Info() Info

	// Alloc returns device memory for n elements (n >= 0) of type t. The
	// contents are undefined; the emulator reports a read before a write.
	Alloc(t Type, n int) (Buffer, error)

	// AllocHost returns host memory for n elements that transfers run from
	// directly; a transfer from a plain slice pays one more copy.
	AllocHost(t Type, n int) (Host, error)

	// AllocArray returns an array of zeros, for textures and surfaces.
	AllocArray(ArrayShape) (Array, error)

	// NewTexture and NewSurface make objects that kernels read an array or a buffer
	// through. The memory must not be freed before the object.
	NewTexture(Texture) (Object, error)
	NewSurface(Array) (Object, error)

	// Load checks PTX text and makes its entries ready to launch. The name is
	// the one that errors use, such as "reduce.sm_75.ptx".
	Load(name, ptx string) (Module, error)

	NewStream() (Stream, error)
	NewEvent() (Event, error)

	// Capture runs f and records, instead of running it, the work that f
	// submits to the stream, and to streams that wait for an event recorded
	// in the capture. All of it must be joined: the stream waits, in turn, for
	// events of the others. Sync, Close and Time of these streams, events
	// from outside and asynchronous allocation are errors in a capture, and
	// end it. Upload, Download and Alloc are no work of a stream and act at
	// once. An error of f is returned as it is.
	Capture(s Stream, f func() error) (Graph, error)

	// Occupancy is how many blocks of a launch an SM holds at a time, by its
	// shape, its shared memory and, on a GPU, its registers. Arguments are
	// not looked at.
	Occupancy(Launch) (int, error)

	// Clusters is how many clusters of a launch the device holds at a time. A cluster
	// that it never holds is an error that wraps ErrShape. The grid and the arguments
	// are not looked at.
	Clusters(Launch) (int, error)

	// LargestCluster is the most blocks that a cluster of a launch may have on the
	// device: at most 8, or 16 with LargeCluster. The shape of its clusters, the grid
	// and the arguments are not looked at.
	LargestCluster(Launch) (int, error)

	// Time runs the launches in order, as one unit, t.Warmup times untimed and
	// then t.Repeats times, and returns how long the device took for each of
	// these. On the emulator these are times of the emulation.
	Time(t Timing, launches ...Launch) ([]time.Duration, error)

	// Interrupt ends the running work of the device: its calls return an error
	// that wraps ErrInterrupted. It may be called from any goroutine and
	// returns at once; it does not affect work that is submitted later.
	Interrupt()

	// Interrupts is the number of calls of Interrupt. Computations on the host
	// for work of the device end when it grows.
	Interrupts() uint64
}

// Timing is the method by which a sequence of launches is timed.
type Timing struct {
	Warmup  int // untimed runs first
	Repeats int // timed runs, at least 1

	// On a GPU; the emulator has no caches and no queue, and ignores them.
	Flush bool // sweep over the L2 cache before each run, outside of its time
	Graph bool // replay the launches as one graph
}

// Stream is a queue of work on a device.
type Stream interface {
	// Launch checks the launch against the entry's parameters and the
	// device's limits, then submits it. Nothing runs if a check fails.
	Launch(Launch) error

	// Copy copies all elements of src to dst; types and lengths must be equal.
	Copy(dst, src Memory) error

	// Zero sets every byte of the buffer to 0.
	Zero(Buffer) error

	// AllocAsync is Alloc for work that is submitted to the stream later: it
	// does not wait for the device. Other streams wait for an event before
	// they use the buffer. FreeAsync frees a buffer, however it was
	// allocated, after the work on the stream; the buffer is gone for later
	// calls at once.
	AllocAsync(t Type, n int) (Buffer, error)
	FreeAsync(Buffer) error

	Record(Event) error
	Wait(Event) error // later work on this stream waits for the event

	// Sync waits for all work on the stream and returns its first error since
	// the last Sync.
	Sync() error

	// Close waits for the work on the stream and releases it.
	Close() error
}

// Event is a point in the work of a stream.
type Event interface {
	// Since returns the device time between two recorded events.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Graph is work that was captured, to be launched as a whole: at the cost of
// one launch on the host, and with the order that its streams and events said.
type Graph interface {
	// Launches are the launches in the graph, in the order in which they were
	// captured.
	Launches() []Launch

	// Launch submits all of the graph to a stream, with the buffers and
	// arguments of its capture. A buffer that was freed or lost since is an
	// error, and nothing runs.
	Launch(Stream) error

	// Update gives the i-th launch other arguments, from the next Launch of
	// the graph on. They are checked as those of a launch are.
	Update(i int, args ...any) error

	// Close releases the graph once it does not run any more.
	Close() error
}

// Memory is a Buffer or a Host.
type Memory interface {
	Type() Type
	Len() int // elements
}

// Buffer is device memory with a data type, or a view into one.
type Buffer interface {
	Memory

	// Label names the buffer in faults and returns the buffer.
	Label(name string) Buffer

	// View is the part of the buffer from element start of n elements. It
	// shares the memory; freeing the buffer frees it too.
	View(start, n int) (Buffer, error)

	// Place is where the elements lie. What Alloc returns starts at a multiple
	// of 256 bytes. The error wraps ErrClosed for a buffer that was freed or lost.
	Place() (Place, error)

	// Upload copies a slice of the buffer's type and length to the device,
	// Download the other way. Both return when the copy is done.
	Upload(slice any) error
	Download(slice any) error

	// Keep makes the contents outlive a fault: from now on they are mirrored
	// in host memory at each Sync after which they may have changed, and come
	// back as they were then. On the emulator no fault loses a buffer, and
	// Keep does nothing.
	Keep() error

	// Free releases the memory. Using it afterwards is an error, also in a
	// running launch; freeing twice is an error.
	Free() error
}

// Host is memory of the host that the device can transfer from directly.
type Host interface {
	Memory

	// Slice is the memory itself as a slice of its type: []float32 for
	// Float32, []uint16 for Float16 and BFloat16, and so on.
	Slice() any
	Free() error
}

// Module is loaded PTX.
type Module interface {
	// Entry finds a .entry by name; the error for an unknown name lists the
	// nearest ones.
	Entry(name string) (Entry, error)
	Entries() []string

	// Global is the memory of a variable declared .global or .const in the
	// module, as bytes of type Uint8.
	Global(name string) (Buffer, error)
	Close() error
}

// Entry is a function of a module that can be launched.
type Entry interface {
	Name() string
	Params() []Param
	Attributes() Attributes
}

// Param is one parameter of an entry.
type Param struct {
	Name    string
	Bytes   int
	Align   int    // bytes
	Type    string // PTX type, such as "u64"
	Count   int    // elements of the type: 1, or more for a struct by value, declared as in .b8 p[24]
	Pointer bool   // declared .ptr, or of 64 bits and possibly an address
}

// Attributes are the resources that a launch of the entry needs.
type Attributes struct {
	SharedBytes int // static shared memory
	Registers   int // per thread; 0 where it is not known
	LocalBytes  int // per thread, of spills and local arrays; 0 where it is not known
	MaxThreads  int // .maxntid, or 0
	Block       Dim // the only shape of a block, from .reqntid; zero if there is none
	Cluster     Dim // the only shape of a cluster, from .reqnctapercluster; zero if there is none
}

// Launch is one execution of an entry.
type Launch struct {
	Entry  Entry
	Grid   Dim
	Block  Dim
	Shared int // bytes of dynamic shared memory

	// Args fit the entry's parameters one by one: a Buffer for a pointer; for
	// a number an int32, uint32, int64, uint64, float32 or float64 of the
	// parameter's size. A plain int is refused, because its size is not the
	// device's. For a struct by value: a Go struct or array of such numbers,
	// Buffers (an address; nil is a null pointer), structs and arrays, which
	// is laid out as C does; a []byte with the bytes themselves; or a
	// TensorMap. For a texture or surface object: an Object.
	Args []any

	// Cooperative makes all blocks resident at the same time, so that they
	// can wait for each other, as in cooperative_groups' grid.sync(). A grid
	// of more blocks than the device holds (SMs times Occupancy) is refused.
	Cooperative bool

	// Cluster is the shape of a cluster in blocks; the grid is a multiple of it. The
	// zero Dim means the clusters that the entry was compiled for (__cluster_dims__),
	// or none. A cluster has at most 8 blocks, and needs sm_90 or later.
	Cluster Dim

	// LargeCluster lets a cluster have up to 16 blocks, which not every GPU with
	// clusters runs (CUDA's non-portable cluster size).
	LargeCluster bool

	// Zero lists buffers that are set to 0 just before the entry runs, as
	// part of the launch.
	Zero []Buffer

	// Counters, if not nil, is filled when the launch has run. A device that
	// cannot count refuses the launch with an error that wraps
	// ErrUnsupported.
	Counters *Counters

	// Profile, if not nil, is filled with counts of every instruction when
	// the launch has run, which takes it some times longer. It is refused as
	// Counters are.
	Profile *Profile

	// Warnings, if not nil, receives suspicious events that are not faults, such
	// as a division by zero: the first of each instruction. If it is nil, the
	// emulator prints them where kernels print. A GPU finds none.
	Warnings *[]*Fault

	// Source, if not nil, describes the entry's source in faults and tools.
	Source *Source

	// Checks is the set of checks of the launch; 0 is CheckDefault. A device
	// that cannot check (Info.Checks) refuses the launch with an error that
	// wraps ErrUnsupported.
	Checks Checks
}

// Source holds facts about the source text that its PTX does not contain.
type Source struct {
	Params []string               // names of the parameters
	Line   func(at string) string // the text of a line, such as "cell5.cu:3", or ""
	Text   string                 // all of it, "" where it is not known
}

// Dim is the shape of a grid or a block. A zero Y or Z counts as 1.
type Dim struct{ X, Y, Z int }
