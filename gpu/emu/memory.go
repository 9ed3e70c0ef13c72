package emu

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
)

// An address is the number of its allocation and an offset in it, so that an
// access past the end of a buffer, before its start or after its end of life
// names the buffer. The first windows are those of the generic address space.
const (
	windowBits = 36 // 64 GiB an allocation
	offsetMask = 1<<windowBits - 1

	nullWindow   = 0
	sharedWindow = 1
	localWindow  = 2
	paramWindow  = 3
	firstID      = 5 // an address before the first buffer is in a window of no other space
)

// memory is the global memory of a device.
type memory struct {
	mu    sync.Mutex
	limit int64
	used  int64 // guarded by mu

	// table is indexed by allocation number and only grows. Writers hold mu;
	// running launches read it without.
	table atomic.Pointer[[]*allocation]
}

// allocation is a buffer or a module variable; it outlives its contents, so
// that a use after free can be named.
type allocation struct {
	id       int
	bytes    int
	fixed    atomic.Bool // a module's variable
	label    atomic.Pointer[string]
	contents atomic.Pointer[contents] // nil once freed
}

// contents are the bytes of an allocation. Kernels that race, race here as
// they would on a GPU; nothing else writes without its stream's order.
type contents struct {
	data    []byte
	base    unsafe.Pointer // of data; aligned to 8
	written bitmap         // bytes that were written
	whole   atomic.Bool    // every byte was: no need to look
	settled int            // words of written that are known to be full; guarded by the device's run lock
}

// bitmap has a bit for each byte of some memory. Those of global memory are
// shared by all workers and go through sync/atomic.
type bitmap []uint32

func newMemory(limit int64) *memory {
	m := &memory{limit: limit}
	table := make([]*allocation, firstID, 64)
	m.table.Store(&table)
	return m
}

// alloc makes an allocation of poisoned bytes.
func (m *memory) alloc(bytes int64, label string) (*allocation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes > m.limit-m.used || bytes > offsetMask {
		return nil, fmt.Errorf("emu: alloc %d bytes: %w: %d of %d bytes are in use", bytes, gpu.ErrMemory, m.used, m.limit)
	}
	if free, known := hostFree(bytes); known && bytes > free {
		return nil, fmt.Errorf("emu: alloc %d bytes: %w: the host has %d bytes left", bytes, gpu.ErrMemory, free)
	}
	m.used += bytes
	table := *m.table.Load()
	a := &allocation{id: len(table), bytes: int(bytes)}
	a.label.Store(&label)
	a.contents.Store(newContents(int(bytes)))
	table = append(table, a)
	m.table.Store(&table)
	return a, nil
}

// checkHostFrom is the size from which an allocation is checked against the
// memory of the host.
const checkHostFrom = 64 << 20

func hostFree(want int64) (bytes int64, known bool) {
	if want < checkHostFrom {
		return 0, false
	}
	return gpu.HostFree()
}

// newContents makes memory that was never written.
func newContents(bytes int) *contents {
	return contentsIn(make([]uint64, contentsWords(bytes)), make(bitmap, writtenWords(bytes)), bytes)
}

// contentsWords and writtenWords are the room that contents need.
func contentsWords(bytes int) int { return (bytes+7)/8 + 1 }
func writtenWords(bytes int) int  { return bytes/32 + 1 }

// contentsIn fills memory that was never written with ones: NaN in every float
// type, -1 in every signed one.
func contentsIn(words []uint64, written bitmap, bytes int) *contents {
	for i := range words {
		words[i] = 1<<64 - 1
	}
	base := unsafe.Pointer(&words[0])
	return &contents{data: unsafe.Slice((*byte)(base), bytes), base: base, written: written}
}

// free ends the life of an allocation; it reports whether it had one.
func (m *memory) free(a *allocation) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.contents.Swap(nil) == nil {
		return false
	}
	m.used -= int64(a.bytes)
	return true
}

// close frees everything.
func (m *memory) close() {
	for _, a := range (*m.table.Load())[firstID:] {
		m.free(a)
	}
}

func (a *allocation) address() uint64 { return uint64(a.id) << windowBits }

func (a *allocation) name() string { return *a.label.Load() }

// wrote marks bytes from offset as written by the host or by a whole-range
// operation.
func (c *contents) wrote(offset, bytes int) {
	if offset == 0 && bytes == len(c.data) {
		c.whole.Store(true)
		return
	}
	c.written.setRange(offset, bytes)
}

// settle finds out whether every byte of global memory has been written, so
// that later launches need not look. It goes on where it stopped.
func (c *contents) settle() {
	if c.whole.Load() {
		return
	}
	full := len(c.data) / 32
	for c.settled < full && c.written[c.settled] == all {
		c.settled++
	}
	rest := uint32(1)<<(len(c.data)%32) - 1
	if c.settled == full && c.written[full]&rest == rest {
		c.whole.Store(true)
	}
}

// inherit copies which bytes were written along with the bytes themselves.
func (c *contents) inherit(offset int, from *contents, fromOffset, bytes int) {
	if from.whole.Load() {
		c.wrote(offset, bytes)
		return
	}
	for i := range bytes {
		if at := fromOffset + i; atomic.LoadUint32(&from.written[at>>5])>>(at&31)&1 != 0 {
			c.written.set(offset+i, 1)
		}
	}
}

// set marks the bytes of an aligned access of 1 to 16 bytes; mask has a bit
// for each.
func (b bitmap) set(offset int, mask uint32) {
	word, bits := &b[offset>>5], mask<<(offset&31)
	if atomic.LoadUint32(word)&bits != bits {
		atomic.OrUint32(word, bits)
	}
}

// clear forgets that the bytes of an access were written.
func (b bitmap) clear(offset int, mask uint32) {
	atomic.AndUint32(&b[offset>>5], ^(mask << (offset & 31)))
}

// has reports whether all bytes of an access were written.
func (b bitmap) has(offset int, mask uint32) bool {
	bits := mask << (offset & 31)
	return atomic.LoadUint32(&b[offset>>5])&bits == bits
}

func (b bitmap) setRange(offset, bytes int) {
	for end := offset + bytes; offset < end; {
		n := min(32-offset&31, end-offset)
		atomic.OrUint32(&b[offset>>5], uint32(1<<n-1)<<(offset&31))
		offset += n
	}
}
