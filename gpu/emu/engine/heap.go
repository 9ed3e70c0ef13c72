package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"warpbook/gpu/emu/mem"
)

// This file is the heap of kernels, of which malloc and free take blocks (form_heap.go). Each
// block is an allocation of its own, so that an access past its end names it. Blocks
// stay until a kernel frees them or the device ends.

// heap are the blocks that kernels have allocated.
type heap struct {
	limit  atomic.Int64
	blocks sync.Map // *mem.Allocation, by address

	mu   sync.Mutex
	used int64 // guarded by mu
}

// defaultHeap is the size of a GPU's heap, unless cudaLimitMallocHeapSize sets it.
const defaultHeap = 8 << 20

// LimitHeap bounds the bytes of the heap of kernels.
func (e *Engine) LimitHeap(bytes int64) { e.heap.limit.Store(bytes) }

// take reserves bytes of the heap, or a negative number of them gives bytes back.
func (h *heap) take(bytes int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.used+bytes > h.limit.Load() && bytes > 0 {
		return false
	}
	h.used += bytes
	return true
}

// allocate is malloc: 0 if there is no memory.
func (e *Engine) allocate(bytes uint64, place string) uint64 {
	if bytes == 0 || bytes > uint64(e.heap.limit.Load()) || !e.heap.take(int64(bytes)) {
		return 0
	}
	a, err := e.memory.Alloc(int64(bytes), "malloc at "+place)
	if err != nil {
		e.heap.take(-int64(bytes))
		return 0
	}
	e.heap.blocks.Store(a.Address(), a)
	return a.Address()
}

// release ends the life of a block of the heap; ok is false if none starts at the address.
func (e *Engine) release(address uint64) (ok bool) {
	v, ok := e.heap.blocks.LoadAndDelete(address)
	if !ok {
		return false
	}
	a := v.(*mem.Allocation)
	e.memory.Free(a)
	e.heap.take(-int64(a.Bytes))
	return true
}

// FreeHeap ends the life of every block of the heap, and sets the default limit.
func (e *Engine) FreeHeap() {
	e.heap.blocks.Range(func(address, _ any) bool {
		e.release(address.(uint64))
		return true
	})
	e.heap.limit.Store(defaultHeap)
}

// HeapBlocks are the blocks that kernels have not freed: one line for each place of a call,
// such as "3 blocks of 48 bytes, malloc at list.cu:12", in order.
func (e *Engine) HeapBlocks() (lines []string) {
	type sum struct{ blocks, bytes int }
	sums := map[string]sum{}
	e.heap.blocks.Range(func(_, v any) bool {
		a := v.(*mem.Allocation)
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
