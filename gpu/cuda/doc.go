// Package cuda is the gpu.Device of an NVIDIA GPU. It is pure Go: a worker
// process, package worker, holds the CUDA context and executes what this
// package asks of it in the words of package command.
//
// A fault on the GPU ends a context for good. Here it ends the worker: the
// call that waited for the work returns a *gpu.Fault, the buffers of that
// worker are lost and say so (gpu.ErrClosed), and the next call starts a fresh
// worker. Modules, streams, events and graphs are made again there by
// themselves, host memory is kept, and so are the contents of buffers that Keep
// was called for.
//
//	device.go   a Device and the worker that it has at present
//	link.go     one worker: its process, commands to it and answers from it
//	arena*.go   memory that both processes map; host memory is parts of it
//	memory.go, keep.go, stage.go, host.go, module.go, launch.go, stream.go,
//	event.go, graph.go, interrupt.go    the interfaces of package gpu
//	fault.go    what the driver's error codes mean
//	recall.go   a launch that faulted, again on the emulator
//	under.go    a worker under a profiler or a sanitizer
//	find.go     where the worker and the driver are
//	version.go  which driver loads which PTX
//
// Commands that need no answer are queued and written by a goroutine of their
// own, so that a launch costs the caller no system call and no round trip. Data
// never passes the pipe: the worker registers host memory with the driver,
// which then transfers at the speed of pinned memory; a plain slice is copied
// through a ring of such memory.
//
// It does not count (gpu.Counters are refused), find races or check accesses:
// the emulator does. It builds no worker: package build does.
package cuda
