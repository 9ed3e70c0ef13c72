package emu

import (
	"encoding/binary"
	"fmt"
	"math"

	"warpbook/gpu"
)

// tensorMap is the descriptor of a tensor in global memory whose tiles TMA instructions
// copy. NVIDIA does not document its bytes: encode writes the emulator's own format, of
// the same size, which a kernel may copy but not create.
type tensorMap struct {
	base    uint64
	element int // bytes
	rank    int
	swizzle int // bytes of a span; 0 for none
	tf32    bool
	shape   [5]int64
	strides [5]int64 // bytes; that of direction 0 is an element
	box     [5]int
}

// tensorMapMagic is the start of the bytes of a map.
const tensorMapMagic = 0x70616d72736e6574 // "tensrmap"

// encodeTensorMap writes the map of a launch, within the limits of
// cuTensorMapEncodeTiled.
func encodeTensorMap(param []byte, m gpu.TensorMap, info gpu.Info) error {
	if info.Compute.Major < 9 {
		return fmt.Errorf("%w: a tensor map, which TMA instructions use: expected sm_90 or later, not %v", gpu.ErrUnsupported, info)
	}
	t := tensorMap{base: m.Buffer.(*buffer).address(), element: m.Buffer.Type().Bytes(), rank: len(m.Shape), swizzle: m.Swizzle, tf32: m.TF32}
	strides := m.DenseStrides()
	t.strides[0] = int64(t.element)
	for i := range t.rank {
		t.shape[i], t.box[i] = int64(m.Shape[i]), m.Box[i]
		if i > 0 {
			t.strides[i] = int64(strides[i-1])
		}
		if i > 0 && t.strides[i]%16 != 0 {
			return fmt.Errorf("%w: a tensor map with a stride of %d bytes, expected a multiple of 16", gpu.ErrArgument, t.strides[i])
		}
	}
	row := t.box[0] * t.element
	switch {
	case t.base%16 != 0:
		return fmt.Errorf("%w: a tensor map of a tensor that begins at address %#x, expected a multiple of 16", gpu.ErrArgument, t.base)
	case row%16 != 0:
		return fmt.Errorf("%w: a tensor map with a box of rows of %d bytes, expected a multiple of 16", gpu.ErrArgument, row)
	case t.swizzle != 0 && row > t.swizzle:
		return fmt.Errorf("%w: a tensor map with a box of rows of %d bytes, expected at most the %d bytes of its swizzle", gpu.ErrArgument, row, t.swizzle)
	}
	t.encode(param)
	return nil
}

func (t *tensorMap) encode(to []byte) {
	put := binary.LittleEndian
	put.PutUint64(to, tensorMapMagic)
	put.PutUint64(to[8:], t.base)
	to[16], to[17], to[18], to[19] = byte(t.element), byte(t.rank), byte(t.swizzle), 0
	if t.tf32 {
		to[19] = 1
	}
	for i := range 5 {
		put.PutUint32(to[20+4*i:], uint32(t.shape[i]))
		put.PutUint16(to[40+2*i:], uint16(t.box[i]))
		put.PutUint64(to[56+8*i:], uint64(t.strides[i]))
	}
}

// decodeTensorMap reads what encode wrote; ok is false for other bytes.
func decodeTensorMap(from []byte) (t *tensorMap, ok bool) {
	get := binary.LittleEndian
	if len(from) < gpu.TensorMapBytes || get.Uint64(from) != tensorMapMagic {
		return nil, false
	}
	t = &tensorMap{base: get.Uint64(from[8:]), element: int(from[16]), rank: int(from[17]), swizzle: int(from[18]), tf32: from[19] != 0}
	for i := range 5 {
		t.shape[i] = int64(get.Uint32(from[20+4*i:]))
		t.box[i] = int(get.Uint16(from[40+2*i:]))
		t.strides[i] = int64(get.Uint64(from[56+8*i:]))
	}
	return t, true
}

// bytes is the size of a tile.
func (t *tensorMap) bytes() int {
	n := t.element
	for i := range t.rank {
		n *= t.box[i]
	}
	return n
}

// row is a part of a tile that is contiguous in global memory.
type tileRow struct {
	at     int    // bytes from the start of the tile
	from   uint64 // address
	offset uint64 // relative to the start of the tensor
	bytes  int
}

// rows calls f for each row of the tile at some coordinates, without the parts outside
// of the tensor.
func (t *tensorMap) rows(at [5]int32, f func(r tileRow) bool) {
	var i [5]int
	first, last := max(0, -int64(at[0])), min(int64(t.box[0]), t.shape[0]-int64(at[0]))
	for place := 0; ; place += t.box[0] * t.element {
		inside, offset := first < last, (int64(at[0])+first)*t.strides[0]
		for d := 1; d < t.rank; d++ {
			c := int64(at[d]) + int64(i[d])
			inside = inside && c >= 0 && c < t.shape[d]
			offset += c * t.strides[d]
		}
		if inside && !f(tileRow{place + int(first)*t.element, t.base + uint64(offset), uint64(offset), int(last-first) * t.element}) {
			return
		}
		d := 1
		for ; d < t.rank; d++ {
			if i[d]++; i[d] < t.box[d] {
				break
			}
			i[d] = 0
		}
		if d >= t.rank {
			return
		}
	}
}

// swizzled is the place of a byte of a tile in shared memory: the number of the span
// permutes its 16-byte parts.
func swizzled(at uint64, span int) uint64 {
	switch span {
	case 128:
		return at ^ at>>7&7<<4
	case 64:
		return at ^ at>>7&3<<4
	case 32:
		return at ^ at>>7&1<<4
	}
	return at
}

// roundTF32 rounds float32 elements to the nearest TF32, halves away from zero.
func roundTF32(data []byte) {
	for i := 0; i+4 <= len(data); i += 4 {
		v := binary.LittleEndian.Uint32(data[i:])
		if v&0x7f800000 != 0x7f800000 && !math.IsNaN(float64(math.Float32frombits(v))) {
			v = (v + 0x1000) &^ 0x1fff
		}
		binary.LittleEndian.PutUint32(data[i:], v)
	}
}
