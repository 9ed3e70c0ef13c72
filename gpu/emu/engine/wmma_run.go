package engine

import "warpbook/gpu/ptx"

// wmmaTransfer moves a fragment between registers and memory.
type wmmaTransfer struct {
	f       *wmmaFragment
	base    func(w *warp, m uint32)
	space   ptx.Space
	part    *instr
	stride  uint32 // slot of the elements between rows or columns
	across  bool   // memory is column by column
	packed  bool   // consecutive elements of memory are in one lane
	storing bool

	requests []fragmentRequest // that the machine makes
	matrices []fragmentRequest // and those in shared memory, nil for the same
}

// chunk is the number of bytes that a lane moves at once.
func (t *wmmaTransfer) chunk() uint64 {
	size, length := t.f.of.Bytes(), t.f.cols
	if t.across {
		length = t.f.rows
	}
	if !t.packed {
		return uint64(size)
	}
	return uint64(min(16, size*length, size*t.f.elements()))
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
	size := t.f.of.Bytes()
	per := int(t.chunk()) / size
	for e := 0; e < t.f.elements(); e += per {
		for l := range 32 {
			row, col := t.f.index(l, e)
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

// spread copies elements from e on from scratch to registers.
func (t *wmmaTransfer) spread(w *warp, e, per int) {
	bits := 8 * t.f.of.Bytes()
	for i := range per {
		from := w.scratch(t.part, i*bits/64)
		slot, shift := t.f.slots[(e+i)/t.f.per()], (e+i)%t.f.per()*bits
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
	bits := 8 * t.f.of.Bytes()
	for k := range t.part.mem.count {
		*w.scratch(t.part, k) = [32]uint64{}
	}
	for i := range per {
		to := w.scratch(t.part, i*bits/64)
		slot, shift := t.f.slots[(e+i)/t.f.per()], (e+i)%t.f.per()*bits
		w.gather(&w.tmp[0], widthOf(t.f.register()), slot)
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
	p.to, p.saturated = ptx.Type(types[len(types)-1]), saturated
	p.core = p.core.Halved(of)
	if len(types) != 2 || p.to != toD || !p.typed() {
		return lo.unsupported("no such form of wmma")
	}
	d, a, b, c := p.fragment("d", toD, ""), p.fragment("a", of, layoutA), p.fragment("b", of, layoutB), p.fragment("c", p.to, "")
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		if w.together32(in, m) {
			w.wmma(p, d, a, b, c)
		}
	}
	return first(lo.operands(4, 4), lo.wholeWarp(), lo.tile(d.tile, 0, true), lo.tile(a.tile, 1, false), lo.tile(b.tile, 2, false), lo.tile(c.tile, 3, false))
}

// wmma multiplies fragments.
func (w *warp) wmma(p *matrixProduct, d, a, b, c *wmmaFragment) {
	x := w.matrices()
	w.unpack(a.tile, func(lane, r, i, per int, v uint64) {
		row, col := a.index(lane, r*per+i)
		x.a[row*p.k+col] = v
	})
	w.unpack(b.tile, func(lane, r, i, per int, v uint64) {
		row, col := b.index(lane, r*per+i)
		x.b[col*p.k+row] = v
	})
	w.unpack(c.tile, func(lane, r, i, per int, v uint64) {
		row, col := c.index(lane, r*per+i)
		x.c[row*p.n+col] = v
	})
	p.multiply(x)
	w.pack(d.tile, func(lane, r, i, per int) uint64 {
		row, col := d.index(lane, r*per+i)
		return x.c[row*p.n+col]
	})
}
