package engine

import "warpbook/gpu/ptx"

// tile is a matrix in the registers of a warp: each lane holds some elements,
// in registers of 32 or 64 bits.
type tile struct {
	of    ptx.Type
	slots []uint32
}

// tileOf is the tile that holds n elements, each once.
func tileOf(of ptx.Type, elements int) *tile {
	per := max(1, 4/of.Bytes())
	return &tile{of, make([]uint32, max(1, elements/32/per))}
}

// register is the type of its registers.
func (t *tile) register() ptx.Type {
	switch t.of {
	case "f64", "f32":
		return t.of
	}
	return "b32"
}

// per is the number of elements in a register.
func (t *tile) per() int { return max(1, 4/t.of.Bytes()) }

// tile binds operand i to the registers of a tile.
func (lo *lowering) tile(t *tile, i int, def bool) error {
	elems := []ptx.Operand{lo.operand(i)}
	if elems[0].Kind == ptx.VectorOperand {
		elems = elems[0].Elems
	}
	if len(elems) != len(t.slots) {
		return lo.malformed("operand %d has %d registers, expected %d", i+1, len(elems), len(t.slots))
	}
	for k, e := range elems {
		var err error
		if def {
			err = lo.defOperand(&t.slots[k], e, "a destination", widthOf(t.register()))
		} else {
			err = lo.useOperand(&t.slots[k], e, "a source", t.bits())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bits is the untyped type of a register: compilers keep f32 in .b32 too.
func (t *tile) bits() ptx.Type { return ptx.Type(bitsOf(t.register())) }

// unpack calls a function for each element of a tile.
func (w *warp) unpack(t *tile, each func(lane, register, i, per int, v uint64)) {
	per := t.per()
	size := 8 * t.of.Bytes()
	for r, slot := range t.slots {
		w.gather(&w.tmp[0], widthOf(t.register()), slot)
		for lane := range 32 {
			v := w.tmp[0][lane]
			for i := range per {
				each(lane, r, i, per, v>>(i*size)&(1<<size-1))
			}
		}
	}
}

// pack fills a tile element by element.
func (w *warp) pack(t *tile, each func(lane, register, i, per int) uint64) {
	per := t.per()
	size := 8 * t.of.Bytes()
	for r, slot := range t.slots {
		for lane := range 32 {
			var v uint64
			for i := range per {
				v |= each(lane, r, i, per) << (i * size)
			}
			if t.of == "f64" {
				lanes[uint64](w, slot)[lane] = v
			} else {
				lanes[uint32](w, slot)[lane] = uint32(v)
			}
		}
	}
}

// eachLane calls f for each lane of a mask.
func eachLane(m uint32, f func(l int)) {
	for ; m != 0; m &= m - 1 {
		f(lowest(m) & 31)
	}
}
