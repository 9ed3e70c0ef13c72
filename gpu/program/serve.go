//go:build linux

package program

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/program/wire"
)

// server answers one program. Its goroutine owns every field.
type server struct {
	alive   context.Context // until the program has ended
	dev     *emu.Device
	channel *wire.Channel
	program *Program
	report  *reporter
	checked bool // look for races in launches of any size
	counts  counting

	modules  []gpu.Module // by unit; nil before its first use
	kernels  []kernel
	memory   memory
	events   map[uint64]time.Time
	streams  streams
	unwaited unwaited
	here     uint64                // of the call in work
	objects  map[uint64]gpu.Object // of textures and surfaces, by number
	printed  printed               // by kernels, and not yet taken by the program

	sticky uint64 // error of the fault that ended the device's work; 0 for none
}

// mostPrinted bounds what kernels print between two synchronisations.
const mostPrinted = 16 << 20

// printed is what kernels printed. As in CUDA's buffer, the newest overwrites the oldest.
type printed struct {
	text bytes.Buffer
	lost int
}

func (p *printed) Write(b []byte) (int, error) {
	n, err := p.text.Write(b)
	p.lost += len(p.text.Next(max(0, p.text.Len()-mostPrinted)))
	return n, err
}

// kernel is an entry that the program launches.
type kernel struct {
	entry   gpu.Entry
	unit    uint64
	name    string // in the PTX
	params  []gpu.Param
	offsets []uint32

	publishes bool // its source tells the host about writes while kernels run
}

// Errors of the runtime API.
const (
	errorInvalidValue         = 1
	errorMemoryAllocation     = 2
	errorInvalidSymbol        = 13
	errorInvalidFunction      = 98
	errorNoKernelImage        = 209
	errorInvalidHandle        = 400
	errorIllegalAddress       = 700
	errorLaunchOutOfResources = 701
	errorLaunchTimeout        = 702
	errorAssert               = 710
	errorMisalignedAddress    = 716
	errorLaunchFailure        = 719
	errorCooperativeTooLarge  = 720
	errorUnknown              = 999
)

// serve answers until the program ends. An error is the program's: it has broken the
// protocol.
func (s *server) serve() error {
	for {
		m, err := s.channel.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.answer(m)
	}
}

// answer does what a message asks for.
func (s *server) answer(m wire.Message) {
	s.here = m.Here
	switch m.Op {
	case wire.Launch:
		s.launch(m)
	case wire.Upload:
		s.work(m, s.upload)
	case wire.Copy:
		s.work(m, s.copy)
	case wire.Set:
		s.work(m, s.set)
	case wire.Record:
		s.events[m.Value(0)] = time.Now()
		s.streams.record(m.Value(0), m.Value(1))
	case wire.Order:
		s.waited(m.Value(0), m.Value(1))
		s.streams.order(m)
	case wire.Arrived:
		s.arrived(m)
	case wire.Read:
		s.read(m)
	case wire.Wrote:
		s.unwaited.wrote(m)
	case wire.Limit:
		s.limit(m.Value(0), m.Value(1))
	case wire.Failed:
		s.report.failed(m)
	case wire.Leak:
		s.report.leak(m)
	case wire.Printed:
		text := s.printed.text.Next(wire.DataBytes)
		s.channel.Answer(wire.Answer{Text: text, More: s.printed.text.Len() > 0})
	case wire.Kernel:
		s.channel.Answer(s.findKernel(m))
	case wire.Device:
		s.channel.Answer(wire.Answer{Text: properties(s.dev.Info())})
	default:
		a := s.question(m)
		a.Sticky = s.sticky
		if s.sticky != 0 {
			a.Status = s.sticky
		}
		s.channel.Answer(a)
	}
}

// Limits of the device, as cudaLimit numbers them.
const (
	limitStack = 0
	limitHeap  = 2
)

// limit sets a limit of the device that the emulator has.
func (s *server) limit(number, bytes uint64) {
	switch number {
	case limitStack:
		s.dev.LimitStack(bytes)
	case limitHeap:
		s.dev.LimitHeap(int64(min(bytes, mostAllocation)))
	}
}

// question answers what needs no text.
func (s *server) question(m wire.Message) wire.Answer {
	switch m.Op {
	case wire.Allocate:
		return s.allocate(m)
	case wire.Free:
		return status(s.free(m.Value(0)))
	case wire.Download:
		return status(s.download(m))
	case wire.Variables:
		return s.variable(m)
	case wire.Elapsed:
		from, to := s.events[m.Value(0)], s.events[m.Value(1)]
		return wire.Answer{Values: []uint64{uint64(to.Sub(from))}}
	case wire.Synchronize:
		return wire.Answer{}
	case wire.Memory:
		total := uint64(s.dev.Info().GlobalBytes)
		return wire.Answer{Values: []uint64{total - s.memory.bytes, total}}
	case wire.Occupancy:
		return s.occupancy(m)
	case wire.Object:
		return s.object(m)
	case wire.Destroy:
		return status(s.destroy(m.Value(0)))
	case wire.Reset:
		s.reset()
		return wire.Answer{}
	case wire.End:
		s.waited(wire.HostAll, 0)
		s.report.unasked = m.Value(0)
		return wire.Answer{}
	}
	return wire.Answer{Status: errorUnknown}
}

// status is the answer to a question without values.
func status(err error) wire.Answer { return wire.Answer{Status: code(err)} }

// code is the runtime API's number for an error.
func code(err error) uint64 {
	fault := (*gpu.Fault)(nil)
	if errors.As(err, &fault) && errors.Is(err, gpu.ErrArgument) { // an argument in a kernel, not of a call
		return errorLaunchFailure
	}
	for _, c := range []struct {
		kind error
		code uint64
	}{
		{nil, 0}, {gpu.ErrMemory, errorMemoryAllocation}, {gpu.ErrMisaligned, errorMisalignedAddress}, {gpu.ErrOutOfBounds, errorIllegalAddress},
		{gpu.ErrFreed, errorIllegalAddress}, {gpu.ErrSpace, errorIllegalAddress}, {gpu.ErrArgument, errorInvalidValue}, {gpu.ErrShape, errorInvalidValue},
		{gpu.ErrHang, errorLaunchTimeout}, {gpu.ErrStepLimit, errorLaunchTimeout},
	} {
		if c.kind == nil && err == nil || c.kind != nil && errors.Is(err, c.kind) {
			return c.code
		}
	}
	if fault != nil {
		if errors.Is(err, gpu.ErrTrap) && strings.HasPrefix(fault.Detail, "assertion ") {
			return errorAssert
		}
		return errorLaunchFailure
	}
	return errorUnknown
}

// work does the work of an asynchronous call. A later call returns its error.
func (s *server) work(m wire.Message, do func(wire.Message) error) {
	if s.over() {
		return
	}
	if err := do(m); err != nil {
		s.report.fault(m.Here, err)
		s.sticky = code(err)
	}
}

// module loads the kernels of a source.
func (s *server) module(number uint64) (gpu.Module, error) {
	if number >= uint64(len(s.modules)) {
		return nil, fmt.Errorf("source %d: %w", number, gpu.ErrNotFound)
	}
	if s.modules[number] != nil {
		return s.modules[number], nil
	}
	u := s.program.parts.Units[number]
	m, err := s.dev.Load(ptxName(u.Name), u.PTX)
	if err == nil {
		s.modules[number] = m
	}
	return m, err
}

func ptxName(source string) string {
	return strings.TrimSuffix(source, ".cu") + ".ptx"
}

// findKernel tells the program the parameters of a kernel.
func (s *server) findKernel(m wire.Message) wire.Answer {
	name := string(m.Bytes(2, m.Value(1)))
	k, err := s.loadKernel(m.Value(0), name)
	if err != nil {
		s.report.refused(name, err)
		return wire.Answer{Status: errorInvalidFunction}
	}
	a := k.entry.Attributes()
	sizes := make([]byte, 0, 8*len(k.params))
	end := uint32(0)
	for i, p := range k.params {
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(p.Bytes))
		end = k.offsets[i] + uint32(p.Bytes)
	}
	for _, o := range k.offsets {
		sizes = binary.LittleEndian.AppendUint32(sizes, o)
	}
	s.kernels = append(s.kernels, k)
	return wire.Answer{Text: sizes, Values: []uint64{uint64(len(s.kernels) - 1), uint64(len(k.params)), uint64(end),
		uint64(a.SharedBytes), uint64(a.MaxThreads), uint64(a.Registers), uint64(a.LocalBytes), uint64(s.dev.Info().SharedPerBlockMax)}}
}

func (s *server) loadKernel(unit uint64, name string) (kernel, error) {
	module, err := s.module(unit)
	if err != nil {
		return kernel{}, err
	}
	entry, err := module.Entry(name)
	if err != nil {
		return kernel{}, err
	}
	k := kernel{entry: entry, unit: unit, name: name, params: entry.Params(), publishes: publishes(s.program.parts.Units[unit].PTX, name)}
	at := 0
	for _, p := range k.params {
		align := max(p.Align, 1)
		at = (at + align - 1) / align * align
		k.offsets = append(k.offsets, uint32(at))
		at += p.Bytes
	}
	return k, nil
}

// over reports whether the device takes no more work: after a fault, or after the end of the
// program, as on a GPU.
func (s *server) over() bool { return s.sticky != 0 || s.alive.Err() != nil }

// launch runs a kernel.
func (s *server) launch(m wire.Message) {
	number := m.Value(0) & (1<<32 - 1)
	if s.over() || number >= uint64(len(s.kernels)) {
		return
	}
	k := &s.kernels[number]
	low, high := func(i int) int { return int(uint32(m.Value(i))) }, func(i int) int { return int(m.Value(i) >> 32) }
	var warnings []*gpu.Fault
	l := gpu.Launch{Entry: k.entry, Grid: gpu.Dim{X: low(1), Y: high(1), Z: low(2)}, Block: gpu.Dim{X: high(2), Y: low(3), Z: high(3)},
		Shared: int(m.Value(4)), Cooperative: m.Value(0)>>32&1 != 0, Warnings: &warnings}
	if c := m.Value(0) >> 40; c != 0 {
		l.Cluster = gpu.Dim{X: int(c & 255), Y: int(c >> 8 & 255), Z: int(c >> 16)}
	}
	if s.checked || small(l) {
		l.Checks = gpu.CheckAll
	}
	var err error
	data := m.Bytes(6, math.MaxUint64)
	if l.Args, err = s.arguments(k, data); err == nil {
		counted, add := s.counts.of(demangled(k.name), l)
		after := s.before(k, data, m.Value(5), m.Here)
		if err = s.streams.of(m.Value(5)).Launch(counted); err == nil {
			add()
		}
		after()
	}
	for _, w := range warnings {
		s.report.warn(m.Here, w)
	}
	if err != nil {
		if f := (*gpu.Fault)(nil); errors.As(err, &f) && f.Kind == gpu.ErrHang {
			f.Detail += s.whileItHangs(m.Value(5))
		}
		s.report.fault(m.Here, err)
		s.sticky = code(err)
		if l.Cooperative && errors.Is(err, gpu.ErrShape) {
			s.sticky = errorCooperativeTooLarge
		}
	}
}

// smallThreads is up to how many threads a launch is checked for races in shared memory
// unasked.
const smallThreads = 1 << 18

// small reports whether a launch has few threads.
func small(l gpu.Launch) bool {
	threads := 1
	for _, n := range [...]int{l.Grid.X, l.Grid.Y, l.Grid.Z, l.Block.X, l.Block.Y, l.Block.Z} {
		threads = min(threads*max(1, n), smallThreads+1)
	}
	return threads <= smallThreads
}

// arguments are the parameters of a launch. A pointer into a buffer is that buffer, so that
// faults name it.
func (s *server) arguments(k *kernel, data []byte) ([]any, error) {
	args := make([]any, len(k.params))
	for i, p := range k.params {
		from := int(k.offsets[i])
		if from+p.Bytes > len(data) {
			return nil, fmt.Errorf("%w: %d bytes of parameters", gpu.ErrArgument, len(data))
		}
		args[i] = s.argument(p, data[from:from+p.Bytes])
	}
	return args, nil
}

func (s *server) argument(p gpu.Param, raw []byte) any {
	switch {
	case p.Count > 1 || p.Type == "b8":
		return bytes.Clone(raw)
	case p.Pointer:
		address := binary.LittleEndian.Uint64(raw)
		if b := s.memory.view(address); b != nil {
			return b
		}
		return address
	}
	var word [8]byte
	copy(word[:], raw)
	v := binary.LittleEndian.Uint64(word[:])
	switch {
	case p.Type == "f32":
		return math.Float32frombits(uint32(v))
	case p.Type == "f64":
		return math.Float64frombits(v)
	case p.Bytes == 1:
		return uint8(v)
	case p.Bytes == 2:
		return uint16(v)
	case p.Bytes == 4:
		return uint32(v)
	}
	return v
}

func (s *server) occupancy(m wire.Message) wire.Answer {
	if m.Value(0) >= uint64(len(s.kernels)) {
		return wire.Answer{Status: errorInvalidFunction}
	}
	n, err := s.dev.Occupancy(gpu.Launch{Entry: s.kernels[m.Value(0)].entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: int(m.Value(1))}, Shared: int(m.Value(2))})
	if errors.Is(err, gpu.ErrShape) { // it does not fit
		return wire.Answer{Values: []uint64{0}}
	}
	return wire.Answer{Status: code(err), Values: []uint64{uint64(n)}}
}

// clocks are the rates of the GPUs that the emulator represents, of NVIDIA's deviceQuery:
// of the SMs and of memory in kHz, and the width of the bus in bits.
var clocks = map[string][3]uint64{
	"NVIDIA H200": {1980000, 3201000, 6144}, "NVIDIA H100 80GB HBM3": {1980000, 2619000, 5120}, "NVIDIA A100-SXM4-80GB": {1410000, 1593000, 5120},
	"NVIDIA GeForce RTX 3090": {1695000, 9751000, 384}, "NVIDIA GeForce RTX 4060": {2460000, 8501000, 128}, "NVIDIA GeForce RTX 4090": {2520000, 10501000, 384},
	"Tesla T4": {1590000, 5001000, 256},
}

// properties are the name and the numbers of a device.
func properties(i gpu.Info) []byte {
	data := make([]byte, wire.NameBytes+8*wire.DeviceValues)
	copy(data[:wire.NameBytes-1], i.Name)
	c := clocks[i.Name]
	for at, v := range map[int]uint64{wire.GlobalBytes: uint64(i.GlobalBytes), wire.SharedPerBlock: uint64(i.SharedPerBlock), wire.SharedPerBlockMax: uint64(i.SharedPerBlockMax),
		wire.SharedPerSM: uint64(i.SharedPerSM), wire.Registers: uint64(i.RegistersPerSM), wire.Clock: c[0], wire.MemoryClock: c[1], wire.Bus: c[2],
		wire.Major: uint64(i.Compute.Major), wire.Minor: uint64(i.Compute.Minor), wire.SMs: uint64(i.SMs), wire.ThreadsPerSM: uint64(i.ThreadsPerSM),
		wire.BlocksPerSM: uint64(i.BlocksPerSM), wire.L2Bytes: uint64(i.L2Bytes)} {
		binary.LittleEndian.PutUint64(data[wire.NameBytes+8*at:], v)
	}
	return data
}
