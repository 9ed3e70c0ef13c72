package mem

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Heap is the heap of kernels, of which malloc and free take blocks. Each block is an
// allocation of its own, so that an access past its end names it. Blocks stay until a kernel
// frees them or the device ends. Goroutines may share a heap.
type Heap struct {
	memory *Memory
	limit  atomic.Int64
	blocks sync.Map // *Allocation, by address

	mu   sync.Mutex
	used int64 // guarded by mu
}

// defaultHeap is the size of a GPU's heap, unless cudaLimitMallocHeapSize sets it.
const defaultHeap = 8 << 20

// NewHeap is an empty heap of 8 MiB in a memory.
func NewHeap(m *Memory) *Heap {
	h := &Heap{memory: m}
	h.Limit(defaultHeap)
	return h
}

// Limit bounds the bytes of the heap.
func (h *Heap) Limit(bytes int64) { h.limit.Store(bytes) }

// take reserves bytes of the heap, or a negative number of them gives bytes back.
func (h *Heap) take(bytes int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.used+bytes > h.limit.Load() && bytes > 0 {
		return false
	}
	h.used += bytes
	return true
}

// Malloc is the address of a new block that a call at a place has asked for: 0 if there is no
// memory.
func (h *Heap) Malloc(bytes uint64, place string) uint64 {
	if bytes == 0 || bytes > uint64(h.limit.Load()) || !h.take(int64(bytes)) {
		return 0
	}
	a, err := h.memory.Alloc(int64(bytes), "malloc at "+place)
	if err != nil {
		h.take(-int64(bytes))
		return 0
	}
	h.blocks.Store(a.Address(), a)
	return a.Address()
}

// Free ends the life of a block; ok is false if none starts at the address.
func (h *Heap) Free(address uint64) (ok bool) {
	v, ok := h.blocks.LoadAndDelete(address)
	if !ok {
		return false
	}
	a := v.(*Allocation)
	h.memory.Free(a)
	h.take(-int64(a.Bytes))
	return true
}

// Clear ends the life of every block, and sets the default limit.
func (h *Heap) Clear() {
	h.blocks.Range(func(address, _ any) bool {
		h.Free(address.(uint64))
		return true
	})
	h.Limit(defaultHeap)
}

// Blocks are the blocks that kernels have not freed: one line for each place of a call, such
// as "3 blocks of 48 bytes, malloc at list.cu:12", in order.
func (h *Heap) Blocks() (lines []string) {
	type sum struct{ blocks, bytes int }
	sums := map[string]sum{}
	h.blocks.Range(func(_, v any) bool {
		a := v.(*Allocation)
		s := sums[a.Name()]
		sums[a.Name()] = sum{s.blocks + 1, s.bytes + a.Bytes}
		return true
	})
	for name, s := range sums {
		lines = append(lines, fmt.Sprintf("%d blocks of %d bytes, %s", s.blocks, s.bytes, name))
	}
	slices.Sort(lines)
	return lines
}
