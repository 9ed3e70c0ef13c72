// Package cuda is the gpu.Device of an NVIDIA GPU; gpu/device calls Open. It is
// pure Go: a worker process, package worker, holds the CUDA context and executes
// the commands that this package sends it (see package command). This package
// must never import gorgonia.org/cu or the emulator.
//
// A fault on the GPU makes a context unusable. Here it ends the worker: the call
// that waited for the work returns a *gpu.Fault, the buffers of that worker are
// lost and return gpu.ErrClosed, and the next call starts a new worker. The new
// worker makes modules, streams, events and graphs again at first use. Host memory
// is kept, and so are the contents of buffers for which Keep was called.
//
//	device.go   a Device and the worker that it has at present
//	link.go     one worker: its process, commands to it and answers from it
//	arena*.go   memory that both processes map; host memory is parts of it
//	memory.go, keep.go, stage.go, host.go, module.go, launch.go, stream.go,
//	event.go, graph.go, interrupt.go    the interfaces of package gpu
//	fault.go    the meaning of the driver's error codes
//	recall.go   replay of a faulty launch on the emulator
//	nccl.go     groups of devices by NCCL: the interface of package gpu/collective
//	under.go    a worker under a profiler or a sanitizer
//	find.go     where the worker and the driver are
//	version.go  which driver loads which PTX
//
// Commands without an answer are queued, and a separate goroutine writes them, so
// that a launch costs the caller no system call and no round trip. Data never
// passes the pipe: the worker registers host memory with the driver, which then
// transfers at the speed of pinned memory; a plain slice is copied through a ring
// of such memory.
//
// It does not count (it refuses gpu.Counters), find races or check accesses: the
// emulator does. It builds no worker: package build does.
package cuda
