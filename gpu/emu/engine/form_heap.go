package engine

import (
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// This file is malloc and free, which compilers leave as calls.

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
			address := w.block.launch.engine.heap.Malloc(bytes, place)
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
			if !ok || address == 0 || w.block.launch.engine.heap.Free(address) {
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
