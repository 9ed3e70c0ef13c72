package engine

import (
	"warpbook/gpu/emu/matrix"
	"warpbook/gpu/ptx"
)

// tile binds operand i to the registers of a tile.
func (lo *lowering) tile(t *matrix.Tile, i int, def bool) error {
	elems := []ptx.Operand{lo.operand(i)}
	if elems[0].Kind == ptx.VectorOperand {
		elems = elems[0].Elems
	}
	if len(elems) != len(t.Slots) {
		return lo.malformed("operand %d has %d registers, expected %d", i+1, len(elems), len(t.Slots))
	}
	for k, e := range elems {
		var err error
		if def {
			err = lo.defOperand(&t.Slots[k], e, "a destination", widthOf(t.Register()))
		} else {
			// Compilers keep f32 in .b32, too.
			err = lo.useOperand(&t.Slots[k], e, "a source", ptx.Type(bitsOf(t.Register())))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
