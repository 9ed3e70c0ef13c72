//go:build cuda

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"gorgonia.org/cu"

	"warpbook/gpu/cuda/command"
)

// The descriptors that the client hands over.
const (
	commandsFD = 3 + iota
	answersFD
	arenaFD
	lifeFD // closes when the client ends
)

func main() {
	device := flag.Int("device", 0, "number of the GPU")
	flag.Parse()
	runtime.LockOSThread() // a context belongs to a thread
	go endWithClient(os.NewFile(lifeFD, "life"))
	answers := os.NewFile(answersFD, "answers")
	w, hello := start(*device)
	if _, err := answers.Write(hello.Append(nil)); err != nil || w == nil {
		os.Exit(1)
	}
	// A read that blocks wakes this thread at once; Go's poller would wake
	// another one first.
	syscall.SetNonblock(commandsFD, false)
	if err := command.Serve(os.NewFile(commandsFD, "commands"), answers, w); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// endWithClient ends the worker when its client ends, also while the GPU hangs.
func endWithClient(life *os.File) {
	io.Copy(io.Discard, life)
	os.Exit(0)
}

// start makes the context; without one it returns the reason in the hello.
func start(number int) (*worker, command.Hello) {
	hello := command.Hello{Protocol: command.Protocol, Driver: int64(cu.Version())}
	w, err := newWorker(number)
	if err == nil {
		err = w.describe(&hello)
	}
	if f, ok := err.(*failure); ok {
		hello.Code, hello.Text = f.code, f.text
		return nil, hello
	}
	return w, hello
}

// newWorker opens a GPU and the arena.
func newWorker(number int) (*worker, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, wrap(err, "devices")
	}
	if number >= count {
		return nil, &failure{code: command.CodeMissing, text: fmt.Sprintf("there is no GPU %d, expected cuda:0 to cuda:%d", number, count-1)}
	}
	device, err := cu.GetDevice(number)
	if err != nil {
		return nil, wrap(err, "device")
	}
	context, err := device.RetainPrimaryCtx() // the one in which NCCL's threads work
	if err != nil {
		return nil, wrap(err, "context")
	}
	if err := cu.SetCurrentContext(context); err != nil {
		return nil, wrap(err, "context")
	}
	w := &worker{
		device: device, buffers: map[uint32]memory{}, entries: map[uint32]*entry{}, modules: map[uint32]*loaded{},
		streams: map[uint32]*stream{}, events: map[uint32]cu.Event{}, graphs: map[uint32]*nodes{},
		arrays: map[uint32]array{}, members: map[uint32]*member{},
	}
	if pooled, _ := device.Attribute(115); pooled != 0 { // MEMORY_POOLS_SUPPORTED
		if err := keepPool(device); err != nil {
			return nil, err
		}
	}
	if w.arena, err = mapArena(); err != nil {
		return nil, &failure{code: command.CodeProtocol, text: "arena: " + err.Error()}
	}
	if w.slots, w.slotsAt, err = pinned(slotBytes * slots); err != nil {
		return nil, err
	}
	return w, w.newStream(command.DefaultStream)
}

func mapArena() ([]byte, error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(arenaFD, &s); err != nil {
		return nil, err
	}
	return syscall.Mmap(arenaFD, 0, int(s.Size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// describe fills in the attributes of the device.
func (w *worker) describe(h *command.Hello) error {
	var err error
	if h.Name, err = w.device.Name(); err != nil {
		return wrap(err, "name")
	}
	id, err := w.device.UUID()
	if err != nil {
		return wrap(err, "UUID")
	}
	h.UUID = "GPU-" + id.String()
	if h.Bytes, err = w.device.TotalMem(); err != nil {
		return wrap(err, "memory")
	}
	h.Attributes = make([]int64, command.Attributes)
	for at, a := range attributes {
		v, err := w.device.Attribute(a)
		if err != nil {
			return wrap(err, "attributes")
		}
		h.Attributes[at] = int64(v)
	}
	w.l2 = h.Attributes[command.L2Bytes]
	return nil
}

// attributes are cu's names of the protocol's attributes; those that cu does
// not know have the number of cuda.h.
var attributes = [command.Attributes]cu.DeviceAttribute{
	command.Major:             cu.ComputeCapabilityMajor,
	command.Minor:             cu.ComputeCapabilityMinor,
	command.SMs:               cu.MultiprocessorCount,
	command.L2Bytes:           cu.L2CacheSize,
	command.SharedPerBlock:    cu.MaxSharedMemoryPerBlock,
	command.SharedPerBlockMax: 97, // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
	command.SharedPerSM:       cu.MaxSharedMemoryPerMultiprocessor,
	command.RegistersPerSM:    cu.MaxRegistersPerMultiprocessor,
	command.ThreadsPerBlock:   cu.MaxThreadsPerBlock,
	command.ThreadsPerSM:      cu.MaxThreadsPerMultiprocessor,
	command.BlocksPerSM:       106, // MAX_BLOCKS_PER_MULTIPROCESSOR
	command.GridX:             cu.MaxGridDimX,
	command.GridY:             cu.MaxGridDimY,
	command.GridZ:             cu.MaxGridDimZ,
	command.BlockX:            cu.MaxBlockDimX,
	command.BlockY:            cu.MaxBlockDimY,
	command.BlockZ:            cu.MaxBlockDimZ,
}
