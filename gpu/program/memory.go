//go:build linux

package program

import (
	"cmp"
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/program/wire"
)

// memory are the live allocations of a program, by address.
type memory struct {
	list  []allocation // sorted
	bytes uint64

	shared map[uint64]gpu.Buffer // __managed__ variables by their address on the host
}

type allocation struct {
	address uint64
	buffer  gpu.Buffer
	own     bool   // of a module: not freed
	heap    int64  // offset of its memory in the channel's, 0 for none
	shared  []byte // that memory
	name    string // in messages
}

func (m *memory) search(address uint64) (i int, found bool) {
	i, found = slices.BinarySearchFunc(m.list, address, func(a allocation, address uint64) int { return cmp.Compare(a.address, address) })
	if !found {
		i-- // the allocation that starts before
	}
	return i, found
}

// at is the buffer that an address lies in, and the offset there; nil for none.
func (m *memory) at(address uint64) (gpu.Buffer, int) {
	i, _ := m.search(address)
	if i < 0 || address-m.list[i].address >= uint64(m.list[i].buffer.Len()) {
		return nil, 0
	}
	return m.list[i].buffer, int(address - m.list[i].address)
}

// view is the rest of the buffer from an address, nil for none.
func (m *memory) view(address uint64) gpu.Buffer {
	b, at := m.at(address)
	for host, v := range m.shared {
		if b == nil && address-host < uint64(v.Len()) {
			b, at = v, int(address-host)
		}
	}
	if b == nil || at == 0 {
		return b
	}
	v, err := b.View(at, b.Len()-at)
	if err != nil {
		return nil
	}
	return v
}

// part are bytes from an address, all in one buffer.
func (m *memory) part(address, bytes uint64) (gpu.Buffer, error) {
	b, at := m.at(address)
	if b == nil || bytes > uint64(b.Len()-at) {
		return nil, fmt.Errorf("%w: %d bytes at %#x are in no buffer", gpu.ErrArgument, bytes, address)
	}
	return b.View(at, int(bytes))
}

// add notes an allocation, and returns its address.
func (m *memory) add(a allocation) (uint64, error) {
	var err error
	if a.address, err = emu.Address(a.buffer); err != nil {
		return 0, err
	}
	i, found := m.search(a.address)
	if found {
		return a.address, nil
	}
	m.list = slices.Insert(m.list, i+1, a)
	if !a.own {
		m.bytes += uint64(a.buffer.Len())
	}
	return a.address, nil
}

// Kinds of memory.
const (
	deviceMemory = iota
	managedMemory
	hostMemory
	arrayMemory // of the device, for textures
)

// mostAllocation bounds an allocation, so that a negative size is out of memory.
const mostAllocation = 1 << 36

func (s *server) allocate(m wire.Message) wire.Answer {
	bytes, kind := m.Value(0), m.Value(1)
	if bytes > mostAllocation {
		return wire.Answer{Status: errorMemoryAllocation}
	}
	x, err := s.newMemory(int64(bytes), kind)
	if err != nil {
		return status(err)
	}
	x.name = allocationName(kind, s.report.place(m.Here))
	x.buffer.Label(x.name)
	address, err := s.memory.add(x)
	a := status(err)
	a.Values = []uint64{address, uint64(x.heap)}
	return a
}

func (s *server) newMemory(bytes int64, kind uint64) (a allocation, err error) {
	if kind == deviceMemory || kind == arrayMemory {
		a.buffer, err = s.dev.Alloc(gpu.Uint8, int(bytes))
		return a, err
	}
	if err := gpu.CheckHost(float64(bytes)); err != nil {
		return a, err
	}
	if a.heap, a.shared, err = s.channel.Heap(bytes); err != nil {
		return a, fmt.Errorf("%w: %w", gpu.ErrMemory, err)
	}
	if a.buffer, err = s.dev.Adopt(a.shared); err != nil {
		s.channel.Release(a.heap)
	}
	return a, err
}

// allocationName names memory by the call that made it.
func allocationName(kind uint64, place string) string {
	call := "cudaMalloc"
	switch kind {
	case managedMemory:
		call = "cudaMallocManaged"
	case hostMemory:
		call = "cudaMallocHost"
	case arrayMemory:
		call = "cudaMallocArray"
	}
	if place == "" {
		return "of " + call
	}
	return "of " + call + " at " + place
}

func (s *server) free(address uint64) error {
	i, found := s.memory.search(address)
	if !found || s.memory.list[i].own {
		return fmt.Errorf("%w: %#x is no memory of the program", gpu.ErrArgument, address)
	}
	a := s.memory.list[i]
	s.memory.list = slices.Delete(s.memory.list, i, i+1)
	s.memory.bytes -= uint64(a.buffer.Len())
	return s.release(a)
}

// release frees the memory of an allocation on both sides.
func (s *server) release(a allocation) error {
	if err := a.buffer.Free(); err != nil {
		return err
	}
	if a.heap != 0 {
		s.channel.Release(a.heap)
	}
	return nil
}

// reset frees everything and begins again.
func (s *server) reset() {
	for _, a := range s.memory.list {
		if !a.own {
			s.release(a) // it is alive
		}
	}
	s.memory = memory{shared: map[uint64]gpu.Buffer{}}
	for i, m := range s.modules {
		if m != nil {
			m.Close() // it is open
			s.modules[i] = nil
		}
	}
	for i, k := range s.kernels { // their numbers stay
		if again, err := s.loadKernel(k.unit, k.name); err == nil {
			s.kernels[i] = again
		}
	}
	clear(s.objects)
	s.dev.FreeHeap()
	s.dev.LimitStack(0)
	s.sticky = 0
	s.dev.WaitForAll()
	s.streams = newStreams(s.dev)
	s.unwaited = unwaited{}
	clear(s.events)
}

func (s *server) upload(m wire.Message) error {
	b, err := s.memory.part(m.Value(0), m.Value(1))
	if err != nil {
		return err
	}
	data := m.Bytes(3, m.Value(1))
	if len(data) != b.Len() {
		return fmt.Errorf("%w: an upload of %d bytes with %d", gpu.ErrArgument, b.Len(), len(data))
	}
	return s.dev.Write(s.streams.call("cudaMemcpy", m.Value(2)), b, data)
}

func (s *server) download(m wire.Message) error {
	address, bytes := m.Value(0), m.Value(1)
	if bytes > wire.DataBytes {
		return fmt.Errorf("%w: a download of %d bytes", gpu.ErrArgument, bytes)
	}
	b, err := s.memory.part(address, bytes)
	if err != nil {
		return err
	}
	return s.dev.Read(s.streams.call("cudaMemcpy", m.Value(2)), s.channel.Data()[:bytes], b)
}

func (s *server) copy(m wire.Message) error {
	to, err := s.memory.part(m.Value(0), m.Value(2))
	if err != nil {
		return err
	}
	from, err := s.memory.part(m.Value(1), m.Value(2))
	if err != nil {
		return err
	}
	return s.dev.Move(s.streams.call("cudaMemcpy", m.Value(3)), to, from)
}

func (s *server) set(m wire.Message) error {
	b, err := s.memory.part(m.Value(0), m.Value(1))
	if err != nil {
		return err
	}
	return s.dev.Fill(s.streams.call("cudaMemset", m.Value(3)), b, byte(m.Value(2)))
}

// variable is the memory of a variable of a source.
func (s *server) variable(m wire.Message) wire.Answer {
	module, err := s.module(m.Value(0))
	if err != nil {
		return status(err)
	}
	name := string(m.Bytes(3, m.Value(1)))
	b, err := module.Global(name)
	if err != nil {
		b, err = module.Global(plainName(name))
	}
	if err != nil {
		return wire.Answer{Status: errorInvalidSymbol}
	}
	address, err := s.memory.add(allocation{buffer: b, own: true})
	a := status(err)
	a.Values = []uint64{address, uint64(b.Len())}
	if host := m.Value(2); host != 0 && err == nil {
		s.memory.shared[host] = b
	}
	return a
}
