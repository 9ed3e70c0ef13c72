package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// This file is the heap of kernels: malloc and free, which compilers leave as calls. Each
// block of it is an allocation of its own, so that an access past its end names it. Blocks
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

// mallocForm lowers a call of malloc: the result, and the bytes.
func mallocForm(lo *lowering) error {
	if err := lo.operands(2, 2); err != nil {
		return err
	}
	result, _, err1 := lo.addressPart(0)
	size, _, err2 := lo.addressPart(1)
	if err := first(err1, err2); err != nil {
		return err
	}
	parts, answer := lo.readers(), lo.part(store, ptx.Local, 8)
	answer.mem.uncounted = true
	lo.op.in.flow = checked
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		place, _, _ := strings.Cut(w.block.prog.placeOf(in), " (")
		eachLane(m, func(l int) {
			bytes, ok := reader{w, l, parts}.argument(size, 3)
			if !ok {
				return
			}
			address := w.block.launch.engine.allocate(bytes, place)
			result(w, 1<<l)
			w.scratch(answer, 0)[l] = address
			w.runPart(answer, 1<<l)
		})
	}
	return nil
}

// freeForm lowers a call of free: the address.
func freeForm(lo *lowering) error {
	if err := lo.operands(1, 1); err != nil {
		return err
	}
	base, _, err := lo.addressPart(0)
	if err != nil {
		return err
	}
	parts := lo.readers()
	lo.op.in.flow = checked
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		eachLane(m, func(l int) {
			address, ok := reader{w, l, parts}.argument(base, 3)
			if !ok || address == 0 || w.block.launch.engine.release(address) {
				return
			}
			table := w.block.launch.engine.memory.Allocations()
			if id := address >> mem.WindowBits; id >= mem.FirstID && id < uint64(len(table)) && strings.HasPrefix(table[id].Name(), "malloc at ") {
				if offset := address & mem.OffsetMask; offset != 0 {
					w.fail(in, l, gpu.ErrArgument, "free of %#x, which is byte %d of %s, expected the address that malloc returned", address, offset, table[id].Name())
				} else {
					w.fail(in, l, gpu.ErrFreed, "free of %#x, which is %s and was freed before", address, table[id].Name())
				}
				return
			}
			w.fail(in, l, gpu.ErrArgument, "free of %#x, which is no memory of malloc: kernels free what kernels allocate", address)
		})
	}
	return nil
}
