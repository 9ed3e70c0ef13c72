package matrix

import (
	"testing"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
)

// A product of bytes by a matrix that moves columns to the right moves those of the other
// factor, whichever way this lies in memory.
func TestMovedColumns(t *testing.T) {
	compute := gpu.Compute{Major: 8}
	p := &Product{M: 16, N: 16, K: 16, Of: "s8", OfB: "s8", To: "s32", Compute: compute, Core: arith.TensorCoreOf(compute)}
	for _, layout := range []string{"row", "col"} {
		x := &WMMA{p, p.Fragment("d", "s32", ""), p.Fragment("a", "s8", layout), p.Fragment("b", "s8", "row"), p.Fragment("c", "s32", "")}
		var file [4096]uint32
		next := uint32(0)
		for _, f := range []*Fragment{x.D, x.A, x.B, x.C} {
			for i := range f.Slots {
				f.Slots[i], next = next, next+128
			}
		}
		registers := unsafe.Pointer(&file)
		x.A.Pack(registers, func(lane, r, i, per int) uint64 {
			row, col := x.A.Index(lane, r*per+i)
			return uint64(8*row+col) & 0x7f
		})
		x.B.Pack(registers, func(lane, r, i, per int) uint64 {
			row, col := x.B.Index(lane, r*per+i)
			return uint64(arith.Bit((row+1)%16 == col))
		})
		var u Unit
		u.WMMA(registers, x)
		x.D.Unpack(registers, func(lane, r, i, per int, v uint64) {
			if row, col := x.D.Index(lane, r*per+i); v != uint64(8*row+(col+15)%16)&0x7f {
				t.Errorf("%s: row %d, column %d: %d, expected that of the column to the left", layout, row, col, v)
			}
		})
	}
}

// Metadata that names one element twice is refused by its lane.
func TestMetadata(t *testing.T) {
	s := &Sparsity{Of: "f16", K: 16}
	var file [32]uint32
	for l := range file {
		file[l] = 0x44444444 // elements 0 and 1 of each four
	}
	var u Unit
	if err := u.Keep(unsafe.Pointer(&file), s); err != nil {
		t.Error(err)
	}
	file[4] = 0x44444400 // row 1
	if err := u.Keep(unsafe.Pointer(&file), s); err == nil || err.Lane != 4 {
		t.Errorf("%v, expected an error of lane 4", err)
	}
}
