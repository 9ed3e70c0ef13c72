package copyengine

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// TensorMap is the descriptor of a tensor in global memory whose tiles TMA instructions
// copy. NVIDIA does not document its bytes: encode writes the emulator's own format, of
// the same size, which a kernel may copy but not create.
type TensorMap struct {
	Rank         int
	Swizzle      int // bytes of a span; 0 for none
	Type         ptx.Type
	Im2col       bool
	Shape        [5]int64
	Lower, Upper [3]int // corners of the bounding box, from those of the tensor

	base    uint64
	element int // bytes
	tf32    bool
	nan     bool     // elements outside of the tensor are NaN
	strides [5]int64 // bytes; that of direction 0 is an element
	box     [5]int   // in im2col mode channels and pixels
	steps   [3]int   // from pixel to pixel
}

// elementTypes are the types of elements by their number in a map.
var elementTypes = []ptx.Type{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "s8", "s16"}

// elementType is the type of the elements of a buffer.
var elementType = map[gpu.Type]ptx.Type{gpu.Uint8: "u8", gpu.Uint16: "u16", gpu.Uint32: "u32", gpu.Int32: "s32", gpu.Uint64: "u64", gpu.Int64: "s64",
	gpu.Float16: "f16", gpu.Float32: "f32", gpu.Float64: "f64", gpu.BFloat16: "bf16", gpu.Int8: "s8", gpu.Int16: "s16"}

// tensorMapMagic is the start of the bytes of a map.
const tensorMapMagic = 0x70616d72736e6574 // "tensrmap"

// EncodeTensorMap writes the map of a launch whose tensor starts at an address, within the
// limits of cuTensorMapEncodeTiled.
func EncodeTensorMap(param []byte, m gpu.TensorMap, base uint64, info gpu.Info) error {
	if info.Compute.Major < 9 {
		return fmt.Errorf("%w: a tensor map, which TMA instructions use: expected sm_90 or later, not %v", gpu.ErrUnsupported, info)
	}
	t := TensorMap{base: base, element: m.Buffer.Type().Bytes(), Rank: len(m.Shape), Swizzle: m.Swizzle, tf32: m.TF32, nan: m.NaN, Type: elementType[m.Buffer.Type()]}
	strides := m.DenseStrides()
	t.strides[0] = int64(t.element)
	for i := range t.Rank {
		if t.Shape[i] = int64(m.Shape[i]); m.Im2col == nil {
			t.box[i] = m.Box[i]
		}
		if i > 0 {
			t.strides[i] = int64(strides[i-1])
		}
		if i > 0 && t.strides[i]%16 != 0 {
			return fmt.Errorf("%w: a tensor map with a stride of %d bytes, expected a multiple of 16", gpu.ErrArgument, t.strides[i])
		}
	}
	if c := m.Im2col; c != nil {
		t.Im2col = true
		t.box[0], t.box[1] = c.Channels, c.Pixels
		for i := range t.Rank - 2 {
			if t.Lower[i], t.Upper[i], t.steps[i] = c.Lower[i], c.Upper[i], 1; c.Steps != nil {
				t.steps[i] = c.Steps[i]
			}
		}
	}
	row := t.box[0] * t.element
	switch {
	case t.base%16 != 0:
		return fmt.Errorf("%w: a tensor map of a tensor that begins at address %#x, expected a multiple of 16", gpu.ErrArgument, t.base)
	case row%16 != 0:
		return fmt.Errorf("%w: a tensor map with a box of rows of %d bytes, expected a multiple of 16", gpu.ErrArgument, row)
	case t.Swizzle != 0 && row > t.Swizzle:
		return fmt.Errorf("%w: a tensor map with a box of rows of %d bytes, expected at most the %d bytes of its swizzle", gpu.ErrArgument, row, t.Swizzle)
	}
	t.encode(param)
	return nil
}

func (t *TensorMap) encode(to []byte) {
	put := binary.LittleEndian
	put.PutUint64(to, tensorMapMagic)
	put.PutUint64(to[8:], t.base)
	to[16], to[17], to[18], to[19] = byte(t.element), byte(t.Rank), byte(t.Swizzle), 0
	for i, v := range []bool{t.tf32, t.nan, t.Im2col} {
		if v {
			to[19] |= 1 << i
		}
	}
	to[50] = byte(slices.Index(elementTypes, t.Type))
	for i := range 3 {
		put.PutUint16(to[96+2*i:], uint16(t.Lower[i]))
		put.PutUint16(to[102+2*i:], uint16(t.Upper[i]))
		to[108+i] = byte(t.steps[i])
	}
	for i := range 5 {
		put.PutUint32(to[20+4*i:], uint32(t.Shape[i]))
		put.PutUint16(to[40+2*i:], uint16(t.box[i]))
		put.PutUint64(to[56+8*i:], uint64(t.strides[i]))
	}
}

// DecodeTensorMap reads what encode wrote; ok is false for other bytes.
func DecodeTensorMap(from []byte) (t *TensorMap, ok bool) {
	get := binary.LittleEndian
	if len(from) < gpu.TensorMapBytes || get.Uint64(from) != tensorMapMagic {
		return nil, false
	}
	t = &TensorMap{base: get.Uint64(from[8:]), element: int(from[16]), Rank: int(from[17]), Swizzle: int(from[18]), tf32: from[19]&1 != 0, nan: from[19]&2 != 0, Im2col: from[19]&4 != 0, Type: elementTypes[from[50]]}
	for i := range 3 {
		t.Lower[i], t.Upper[i], t.steps[i] = int(int16(get.Uint16(from[96+2*i:]))), int(int16(get.Uint16(from[102+2*i:]))), int(from[108+i])
	}
	for i := range 5 {
		t.Shape[i] = int64(get.Uint32(from[20+4*i:]))
		t.box[i] = int(get.Uint16(from[40+2*i:]))
		t.strides[i] = int64(get.Uint64(from[56+8*i:]))
	}
	return t, true
}

// Bytes is the size of a tile.
func (t *TensorMap) Bytes() int {
	n := t.element
	for _, boxed := range t.box {
		n *= max(boxed, 1)
	}
	return n
}

// Blank is a tile of elements outside of the tensor.
func (t *TensorMap) Blank() []byte {
	data := make([]byte, t.Bytes())
	if t.nan {
		for i := range data {
			if data[i] = 0xff; i%t.element == t.element-1 {
				data[i] = 0x7f
			}
		}
	}
	return data
}

// pixels calls f for each pixel of a tile in im2col mode, without the bytes outside of the
// tensor. It goes along W, H and D from the coordinates and offsets to the upper corner of
// the bounding box, then from its lower one, and on to the next image. It reports false if
// the coordinates are not in the bounding box.
func (t *TensorMap) pixels(at [5]int32, offsets [3]int64, f func(r Row) bool) bool {
	var position [3]int64
	spatial := t.Rank - 2
	for d := range spatial {
		position[d] = int64(at[d+1])
		if position[d] < int64(t.Lower[d]) || position[d] >= t.Shape[d+1]+int64(t.Upper[d]) {
			return false
		}
	}
	image := int64(at[t.Rank-1])
	first, last := max(0, -int64(at[0])), min(int64(t.box[0]), t.Shape[0]-int64(at[0]))
	for pixel := range t.box[1] {
		inside, offset := first < last && image >= 0 && image < t.Shape[t.Rank-1], (int64(at[0])+first)*t.strides[0]+image*t.strides[t.Rank-1]
		for d := range spatial {
			c := position[d] + offsets[d]
			inside = inside && c >= 0 && c < t.Shape[d+1]
			offset += c * t.strides[d+1]
		}
		if inside && !f(Row{(pixel*t.box[0] + int(first)) * t.element, t.base + uint64(offset), int(last-first) * t.element}) {
			return true
		}
		d := 0
		for ; d < spatial; d++ {
			if position[d] += int64(t.steps[d]); position[d] < t.Shape[d+1]+int64(t.Upper[d]) {
				break
			}
			position[d] = int64(t.Lower[d])
		}
		if d == spatial {
			image++
		}
	}
	return true
}

// Row is a part of a tile that is contiguous in global memory.
type Row struct {
	At    int    // bytes from the start of the tile
	From  uint64 // address
	Bytes int
}

// rows calls f for each row of the tile at some coordinates, without the parts outside
// of the tensor.
func (t *TensorMap) rows(at [5]int32, f func(r Row) bool) {
	var i [5]int
	first, last := max(0, -int64(at[0])), min(int64(t.box[0]), t.Shape[0]-int64(at[0]))
	for place := 0; ; place += t.box[0] * t.element {
		inside, offset := first < last, (int64(at[0])+first)*t.strides[0]
		for d := 1; d < t.Rank; d++ {
			c := int64(at[d]) + int64(i[d])
			inside = inside && c >= 0 && c < t.Shape[d]
			offset += c * t.strides[d]
		}
		if inside && !f(Row{place + int(first)*t.element, t.base + uint64(offset), int(last-first) * t.element}) {
			return
		}
		d := 1
		for ; d < t.Rank; d++ {
			if i[d]++; i[d] < t.box[d] {
				break
			}
			i[d] = 0
		}
		if d >= t.Rank {
			return
		}
	}
}

// Rows calls f for each row of the tile at some coordinates, without the parts outside of
// the tensor, until it returns false. In im2col mode it returns false if the coordinates are
// not in the bounding box; offsets are from the pixels' own places.
func (t *TensorMap) Rows(at [5]int32, offsets [3]int64, f func(r Row) bool) bool {
	if t.Im2col {
		return t.pixels(at, offsets, f)
	}
	t.rows(at, f)
	return true
}

// Round rounds the elements of a tile if the map says so: float32 to the nearest TF32,
// halves away from zero.
func (t *TensorMap) Round(data []byte) {
	if !t.tf32 {
		return
	}
	for i := 0; i+4 <= len(data); i += 4 {
		v := binary.LittleEndian.Uint32(data[i:])
		if v&0x7f800000 != 0x7f800000 && !math.IsNaN(float64(math.Float32frombits(v))) {
			v = (v + 0x1000) &^ 0x1fff
		}
		binary.LittleEndian.PutUint32(data[i:], v)
	}
}
