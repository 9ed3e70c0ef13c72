package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

// wmmaTransfer moves a fragment between registers and memory.
type wmmaTransfer struct {
	f       *matrix.Fragment
	base    func(w *warp, m uint32)
	space   ptx.Space
	part    *instr
	stride  uint32 // slot of the elements between rows or columns
	across  bool   // memory is column by column
	packed  bool   // consecutive elements of memory are in one lane
	storing bool

	requests []matrix.Request // that the machine makes
	matrices []matrix.Request // and those in shared memory, nil for the same
}

// chunk is the number of bytes that a lane moves at once.
func (t *wmmaTransfer) chunk() uint64 {
	size, length := t.f.Of.Bytes(), t.f.Cols
	if t.across {
		length = t.f.Rows
	}
	if !t.packed {
		return uint64(size)
	}
	return uint64(min(16, size*length, size*t.f.Elements()))
}

func (t *wmmaTransfer) run(w *warp, in *instr, m uint32) {
	if !w.together32(in, m) {
		return
	}
	t.base(w, m)
	base, stride := w.addr, *lanes[uint32](w, t.stride)
	if w.block.counting {
		t.count(w, base, stride)
	}
	size := t.f.Of.Bytes()
	per := int(t.chunk()) / size
	for e := 0; e < t.f.Elements(); e += per {
		for l := range 32 {
			row, col := t.f.Index(l, e)
			if t.across {
				row, col = col, row
			}
			w.addr[l] = base[l] + uint64(row*int(stride[l])+col)*uint64(size)
		}
		if t.storing {
			t.collect(w, e, per)
		}
		if w.runPart(t.part, m); w.block.fault != nil {
			return
		}
		if !t.storing {
			t.spread(w, e, per)
		}
	}
}

// count counts the accesses of the machine code, which differ from those of the
// emulator.
func (t *wmmaTransfer) count(w *warp, base [32]uint64, stride [32]uint32) {
	space, window := t.space, uint64(0)
	if space == ptx.Generic {
		space, window = spaceOf(base[0])
	}
	requests := t.requests
	if space == ptx.Shared && t.matrices != nil {
		requests = t.matrices
		w.block.cnt.MatrixLoads += uint64(len(requests))
	}
	for i := range requests {
		r := &requests[i]
		p := gpu.Pattern{Mask: r.Lanes, Bytes: r.Bytes, Write: t.storing}
		for l := range 32 {
			row, col := r.Row[l], r.Col[l]
			if t.across {
				row, col = col, row
			}
			p.Address[l] = base[l] - window + uint64(row*int(stride[l])+col)*uint64(t.f.Of.Bytes())
		}
		w.countPattern(t.part, space, &p)
	}
}

// spread copies elements from e on from scratch to registers.
func (t *wmmaTransfer) spread(w *warp, e, per int) {
	bits := 8 * t.f.Of.Bytes()
	for i := range per {
		from := w.scratch(t.part, i*bits/64)
		slot, shift := t.f.Slots[(e+i)/t.f.Per()], (e+i)%t.f.Per()*bits
		for l := range 32 {
			v := from[l] >> (i * bits % 64) & (1<<bits - 1)
			if bits == 64 {
				lanes[uint64](w, slot)[l] = v
				continue
			}
			d := &lanes[uint32](w, slot)[l]
			*d = *d&^uint32((1<<bits-1)<<shift) | uint32(v)<<shift
		}
	}
}

// collect copies elements from e on from registers to scratch.
func (t *wmmaTransfer) collect(w *warp, e, per int) {
	bits := 8 * t.f.Of.Bytes()
	for k := range t.part.mem.count {
		*w.scratch(t.part, k) = [32]uint64{}
	}
	for i := range per {
		to := w.scratch(t.part, i*bits/64)
		slot, shift := t.f.Slots[(e+i)/t.f.Per()], (e+i)%t.f.Per()*bits
		w.gather(&w.tmp[0], widthOf(t.f.Register()), slot)
		for l := range 32 {
			to[l] |= w.tmp[0][l] >> shift & (1<<bits - 1) << (i * bits % 64)
		}
	}
}

// wmmaProduct lowers wmma.mma.
func (lo *lowering) wmmaProduct(w words) error {
	saturated := w.has("satfinite")
	w.drop("rn")
	if len(w) < 5 {
		return lo.unsupported("no such form of wmma")
	}
	layoutA, layoutB, shape, types := w[0], w[1], w[2], w[3:]
	of := ptx.Type("f16") // if the instruction names no types of a and b
	if len(types) == 4 {
		of = ptx.Type(types[1])
		types = []string{types[0], types[3]}
	}
	p, err := lo.wmmaShape(shape, of)
	if err != nil {
		return err
	}
	toD := ptx.Type(types[0])
	p.To, p.Saturated = ptx.Type(types[len(types)-1]), saturated
	p.Core = p.Core.Halved(of)
	if len(types) != 2 || p.To != toD || !p.Typed() {
		return lo.unsupported("no such form of wmma")
	}
	x := &matrix.WMMA{Product: p, D: p.Fragment("d", toD, ""), A: p.Fragment("a", of, layoutA), B: p.Fragment("b", of, layoutB), C: p.Fragment("c", p.To, "")}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if w.together32(in, m) {
			w.block.matrices.WMMA(w.slots, x)
		}
	}
	return first(lo.operands(4, 4), lo.wholeWarp(), lo.tile(x.D.Tile, 0, true), lo.tile(x.A.Tile, 1, false), lo.tile(x.B.Tile, 2, false), lo.tile(x.C.Tile, 3, false))
}
