package mem

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"warpbook/gpu"
)

// An address is the number of its allocation and an offset in it, so that an access past
// the end of a buffer, before its start or after its end of life can name the buffer.
// The first windows are those of the generic address space.
const (
	WindowBits = 36 // 64 GiB an allocation
	OffsetMask = 1<<WindowBits - 1

	NullWindow   = 0
	SharedWindow = 1
	LocalWindow  = 2
	ParamWindow  = 3
	FirstID      = 5 // an address before the first buffer lies in no other space's window
)

// Memory is the global memory of a device.
type Memory struct {
	mu    sync.Mutex
	limit int64
	used  int64 // guarded by mu

	// table is indexed by allocation number and only grows. Writers hold mu;
	// running launches read it without.
	table atomic.Pointer[[]*Allocation]
}

// Allocation is a buffer or a module variable; it outlives its contents, so that a fault
// can name a use after free.
type Allocation struct {
	ID       int
	Bytes    int
	Fixed    atomic.Bool // a module's variable
	Constant bool        // in constant memory; set before anything runs
	label    atomic.Pointer[string]
	Contents atomic.Pointer[Contents] // nil once freed
}

// Contents are the bytes of an allocation. Kernels that race also race here, as they
// would on a GPU; all other writes follow the order of their stream.
type Contents struct {
	Data    []byte
	Base    unsafe.Pointer // of data; aligned to 8
	Written Bitmap         // bytes that were written
	Whole   atomic.Bool    // every byte was written: no check is needed
	settled int            // words of written that are known to be full; guarded by the device's run lock, for shared memory by its worker
}

// Bitmap has a bit for each byte of some memory. Bitmaps of global memory are shared by
// all workers and accessed through sync/atomic.
type Bitmap []uint32

// New is memory of at most the given number of bytes.
func New(limit int64) *Memory {
	m := &Memory{limit: limit}
	table := make([]*Allocation, FirstID, 64)
	m.table.Store(&table)
	return m
}

// Allocations are all allocations ever made, by number; nil up to FirstID.
func (m *Memory) Allocations() []*Allocation { return *m.table.Load() }

// InUse is the number of allocated bytes, and the limit.
func (m *Memory) InUse() (used, limit int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.limit
}

// Alloc makes an allocation of poisoned bytes.
func (m *Memory) Alloc(bytes int64, label string) (*Allocation, error) {
	return m.add(bytes, label, func() *Contents {
		return newContents(int(bytes))
	})
}

// Adopt makes an allocation of memory that exists, which counts as written. Data is aligned
// to 8 bytes, and 8 bytes that follow it can be read.
func (m *Memory) Adopt(data []byte, label string) (*Allocation, error) {
	return m.add(int64(len(data)), label, func() *Contents {
		c := &Contents{Data: data, Base: unsafe.Pointer(&data[0]), Written: make(Bitmap, writtenWords(len(data)))}
		c.Whole.Store(true)
		return c
	})
}

func (m *Memory) add(bytes int64, label string, contents func() *Contents) (*Allocation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes > m.limit-m.used || bytes > OffsetMask {
		return nil, fmt.Errorf("emu: alloc %d bytes: %w: %d of %d bytes are in use", bytes, gpu.ErrMemory, m.used, m.limit)
	}
	if free, known := hostFree(bytes); known && bytes > free {
		return nil, fmt.Errorf("emu: alloc %d bytes: %w: the host has %d bytes left", bytes, gpu.ErrMemory, free)
	}
	m.used += bytes
	table := *m.table.Load()
	a := &Allocation{ID: len(table), Bytes: int(bytes)}
	a.label.Store(&label)
	a.Contents.Store(contents())
	table = append(table, a)
	m.table.Store(&table)
	return a, nil
}

// checkHostFrom is the size from which an allocation is compared with the memory of the
// host.
const checkHostFrom = 64 << 20

func hostFree(want int64) (bytes int64, known bool) {
	if want < checkHostFrom {
		return 0, false
	}
	return gpu.HostFree()
}

// newContents makes memory that counts as never written.
func newContents(bytes int) *Contents {
	return contentsIn(make([]uint64, contentsWords(bytes)), make(Bitmap, writtenWords(bytes)), bytes)
}

// contentsWords and writtenWords are the sizes of contents.
func contentsWords(bytes int) int { return (bytes+7)/8 + 1 }
func writtenWords(bytes int) int  { return bytes/32 + 1 }

// contentsIn fills fresh memory with ones: NaN in every float type, -1 in every signed
// type.
func contentsIn(words []uint64, written Bitmap, bytes int) *Contents {
	for i := range words {
		words[i] = 1<<64 - 1
	}
	base := unsafe.Pointer(&words[0])
	return &Contents{Data: unsafe.Slice((*byte)(base), bytes), Base: base, Written: written}
}

// Copy is memory with the same allocations, addresses and bytes, and the number of bytes
// that it does not share. Contents that equal those of an earlier copy are shared with it:
// such copies are only read, and copied again.
func (m *Memory) Copy(earlier *Memory) (c *Memory, own int64) {
	from := m.Allocations()
	table := make([]*Allocation, len(from))
	var before []*Allocation
	if earlier != nil {
		before = earlier.Allocations()
	}
	c = New(m.limit)
	for i, a := range from {
		if a == nil {
			continue
		}
		table[i] = &Allocation{ID: a.ID, Bytes: a.Bytes, Constant: a.Constant}
		table[i].label.Store(a.label.Load())
		table[i].Fixed.Store(a.Fixed.Load())
		x := a.Contents.Load()
		if x == nil {
			continue
		}
		c.used += int64(a.Bytes)
		if i < len(before) && before[i] != nil {
			if y := before[i].Contents.Load(); y != nil && x.equals(y) {
				table[i].Contents.Store(y)
				continue
			}
		}
		own += int64(a.Bytes)
		table[i].Contents.Store(x.copy())
	}
	c.table.Store(&table)
	return c, own
}

func (c *Contents) equals(d *Contents) bool {
	return c.Whole.Load() == d.Whole.Load() && bytes.Equal(c.Data, d.Data) && slices.Equal(c.Written, d.Written)
}

func (c *Contents) copy() *Contents {
	d := newContents(len(c.Data))
	copy(d.Data, c.Data)
	copy(d.Written, c.Written)
	d.Whole.Store(c.Whole.Load())
	return d
}

// Free ends the life of an allocation; it reports whether it was alive.
func (m *Memory) Free(a *Allocation) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.Contents.Swap(nil) == nil {
		return false
	}
	m.used -= int64(a.Bytes)
	return true
}

// Close frees everything.
func (m *Memory) Close() {
	for _, a := range (*m.table.Load())[FirstID:] {
		m.Free(a)
	}
}

func (a *Allocation) Address() uint64 { return uint64(a.ID) << WindowBits }

// Rename gives the allocation the name that faults use.
func (a *Allocation) Rename(name string) { a.label.Store(&name) }

func (a *Allocation) Name() string { return *a.label.Load() }

// Wrote marks bytes from offset as written by the host or by an operation on a whole
// range.
func (c *Contents) Wrote(offset, bytes int) {
	if offset == 0 && bytes == len(c.Data) {
		c.Whole.Store(true)
		return
	}
	c.Written.SetRange(offset, bytes)
}

// Settle checks whether every byte has been written, so that later accesses need no
// check: of global memory when a launch has ended, of shared memory when a barrier has.
// It continues where it stopped.
func (c *Contents) Settle() {
	if c.Whole.Load() {
		return
	}
	full := len(c.Data) / 32
	for c.settled < full && c.Written[c.settled] == 1<<32-1 {
		c.settled++
	}
	rest := uint32(1)<<(len(c.Data)%32) - 1
	if c.settled == full && c.Written[full]&rest == rest {
		c.Whole.Store(true)
	}
}

// Unwrite clears the written bits of an access; mask has a bit for each byte. The memory
// may be Whole only if its Written is complete.
func (c *Contents) Unwrite(offset int, mask uint32) {
	c.Written.Clear(offset, mask)
	c.unsettle(offset)
}

// UnwriteRange is Unwrite for consecutive bytes.
func (c *Contents) UnwriteRange(offset, bytes int) {
	c.Written.clearRange(offset, bytes)
	c.unsettle(offset)
}

// UnwriteAll clears all written bits.
func (c *Contents) UnwriteAll() {
	clear(c.Written)
	c.unsettle(0)
}

func (c *Contents) unsettle(offset int) {
	c.Whole.Store(false)
	c.settled = min(c.settled, offset/32)
}

// Inherit copies the written bits along with the bytes.
func (c *Contents) Inherit(offset int, from *Contents, fromOffset, bytes int) {
	if from.Whole.Load() {
		c.Wrote(offset, bytes)
		return
	}
	for i := range bytes {
		if at := fromOffset + i; atomic.LoadUint32(&from.Written[at>>5])>>(at&31)&1 != 0 {
			c.Written.Set(offset+i, 1)
		}
	}
}

// Set marks the bytes of an aligned access of 1 to 16 bytes; mask has a bit
// for each.
func (b Bitmap) Set(offset int, mask uint32) {
	word, bits := &b[offset>>5], mask<<(offset&31)
	if atomic.LoadUint32(word)&bits != bits {
		atomic.OrUint32(word, bits)
	}
}

// Clear clears the written bits of an access.
func (b Bitmap) Clear(offset int, mask uint32) {
	atomic.AndUint32(&b[offset>>5], ^(mask << (offset & 31)))
}

// Has reports whether all bytes of an access were written.
func (b Bitmap) Has(offset int, mask uint32) bool {
	bits := mask << (offset & 31)
	return atomic.LoadUint32(&b[offset>>5])&bits == bits
}

func (b Bitmap) SetRange(offset, bytes int) {
	for end := offset + bytes; offset < end; {
		n := min(32-offset&31, end-offset)
		atomic.OrUint32(&b[offset>>5], uint32(1<<n-1)<<(offset&31))
		offset += n
	}
}

// clearRange clears the written bits of a range.
func (b Bitmap) clearRange(offset, bytes int) {
	for end := offset + bytes; offset < end; {
		n := min(32-offset&31, end-offset)
		atomic.AndUint32(&b[offset>>5], ^(uint32(1<<n-1) << (offset & 31)))
		offset += n
	}
}

// FirstUnset is the first byte of a range that was not written; ok is true if all bytes
// were.
func (b Bitmap) FirstUnset(offset, bytes int) (at int, ok bool) {
	for end := offset + bytes; offset < end; {
		n := min(32-offset&31, end-offset)
		want := uint32(1<<n-1) << (offset & 31)
		if missing := want &^ atomic.LoadUint32(&b[offset>>5]); missing != 0 {
			return offset&^31 + bits.TrailingZeros32(missing), false
		}
		offset += n
	}
	return 0, true
}

// Wrap makes bytes that are all written the contents of a memory.
func Wrap(data []byte) *Contents {
	c := &Contents{Data: data}
	if len(data) > 0 {
		c.Base = unsafe.Pointer(&data[0])
	}
	c.Whole.Store(true)
	return c
}
