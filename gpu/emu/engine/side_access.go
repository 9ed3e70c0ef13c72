package engine

import (
	"fmt"

	"warpbook/gpu/ptx"
)

// part is an access that an instruction makes in addition to others, of up to 16 bytes:
// its data pass through scratch slots, of which the first holds the lower 8 bytes of
// each lane. Its addresses are stored in w.addr before it runs.
func (lo *lowering) part(kind accessKind, space ptx.Space, bytes uint64) *instr {
	mem := &access{kind: kind, space: space, bytes: min(bytes, 8), size: bytes, count: 1, wideData: true}
	if bytes > 8 {
		mem.count = int(bytes / 8)
	}
	for k := range mem.count {
		// A preset that no other instruction reads.
		lo.bind(&mem.regs[k], value{kind: constantValue, name: fmt.Sprint("scratch ", k), width: double}, false)
	}
	in := &instr{src: lo.op.in.src, mem: mem}
	lo.op.parts = append(lo.op.parts, in)
	return in
}

// runPart runs an access at the addresses in w.addr.
func (w *warp) runPart(in *instr, m uint32) {
	if in.mem.space == ptx.Generic {
		w.accessGeneric(in, m)
		return
	}
	w.accessIn(in, in.mem.space, m)
}

// scratch is 8 bytes of the data of a part, of each lane.
func (w *warp) scratch(in *instr, k int) *[32]uint64 { return lanes[uint64](w, in.mem.regs[k]) }

// addressPart binds an address operand for parts; base gives its lanes. Each part adds
// its own offset.
func (lo *lowering) addressPart(i int) (base func(w *warp, m uint32), space ptx.Space, err error) {
	mem := &access{}
	if err := lo.address(mem, i); err != nil {
		return nil, 0, err
	}
	at := &instr{mem: mem}
	lo.op.binds[len(lo.op.binds)-1].field = &at.a
	return func(w *warp, m uint32) { w.effective(at, m) }, mem.space, nil
}
