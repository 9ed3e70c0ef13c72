package engine

import (
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// atom updates memory for one lane after the other. Other workers may update it at the
// same time.
func (w *warp) atom(in *instr, p place, m uint32) {
	mem := in.mem
	op := mem.operation(in, p)
	for x := m; x != 0; x &= x - 1 {
		l := lowest(x) & 31
		at := unsafe.Add(p.contents.Base, w.addr[l])
		b, c := w.source(mem, in.b, l), w.source(mem, in.c, l)
		old := arith.Replace(at, mem.bytes, op, b, c)
		if !mem.skip[0] {
			w.setData(mem, 0, l, old)
		}
	}
}

// operation applies an atomic operation at a place.
func (mem *access) operation(in *instr, p place) arith.AtomOp {
	if global, ok := arith.GlobalAtoms[in.src.Modifiers[len(in.src.Modifiers)-1]]; ok && p.space == ptx.Global {
		return global
	}
	return mem.atom
}

func (w *warp) source(mem *access, slot uint32, l int) uint64 {
	if mem.wideData {
		return lanes[uint64](w, slot)[l]
	}
	return uint64(lanes[uint32](w, slot)[l])
}
