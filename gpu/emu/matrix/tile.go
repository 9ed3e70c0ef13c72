package matrix

import (
	"unsafe"

	"warpbook/gpu/ptx"
)

// Tile is a matrix in the registers of a warp: each lane holds some elements, in registers
// of 32 or 64 bits.
type Tile struct {
	Of    ptx.Type
	Slots []uint32
}

// NewTile is the tile that holds n elements, each once.
func NewTile(of ptx.Type, elements int) *Tile {
	per := max(1, 4/of.Bytes())
	return &Tile{of, make([]uint32, max(1, elements/32/per))}
}

// Register is the type of its registers.
func (t *Tile) Register() ptx.Type {
	switch t.Of {
	case "f64", "f32":
		return t.Of
	}
	return "b32"
}

// Per is the number of elements in a register.
func (t *Tile) Per() int { return max(1, 4/t.Of.Bytes()) }

// Unpack calls a function for each element of a tile in a register file: element i of the
// per ones of a register of a lane.
func (t *Tile) Unpack(file unsafe.Pointer, each func(lane, register, i, per int, v uint64)) {
	per, size := t.Per(), 8*t.Of.Bytes()
	for r, slot := range t.Slots {
		for lane := range 32 {
			v := t.value(file, slot, lane)
			for i := range per {
				each(lane, r, i, per, v>>(i*size)&(1<<size-1))
			}
		}
	}
}

// Pack fills a tile element by element.
func (t *Tile) Pack(file unsafe.Pointer, each func(lane, register, i, per int) uint64) {
	per, size := t.Per(), 8*t.Of.Bytes()
	for r, slot := range t.Slots {
		for lane := range 32 {
			var v uint64
			for i := range per {
				v |= each(lane, r, i, per) << (i * size)
			}
			if t.Of == "f64" {
				slotOf[uint64](file, slot)[lane] = v
			} else {
				slotOf[uint32](file, slot)[lane] = uint32(v)
			}
		}
	}
}

// value is the register of a lane.
func (t *Tile) value(file unsafe.Pointer, slot uint32, lane int) uint64 {
	if t.Of == "f64" {
		return slotOf[uint64](file, slot)[lane]
	}
	return uint64(slotOf[uint32](file, slot)[lane])
}

func slotOf[T any](file unsafe.Pointer, slot uint32) *[32]T {
	return (*[32]T)(unsafe.Add(file, slot))
}
