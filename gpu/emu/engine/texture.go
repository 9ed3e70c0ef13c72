package engine

import (
	"encoding/binary"
	"math"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
)

// This file is what texture objects read: arrays, coordinates and filters. An array is
// an allocation in rows; the layout of a GPU's arrays is not documented and not seen.
//
// Sources: CUDA C++ Programming Guide, texture fetching. Assumed and not compared with a
// GPU yet: coordinates of a filter are rounded to the nearest 1/256, a filtered value is
// rounded once from the exact sum, and a missing channel reads as 0, the fourth as 1.
// Reads are not counted: the profiler's counters of the texture unit are not modelled.

// Object is a texture or surface object.
type Object struct {
	Surface bool
	Texture gpu.Texture // of a texture object
	Shape   gpu.ArrayShape
	Memory  *mem.Allocation
	Offset  int // bytes, of the first element

	bytes int // of an element
}

// objectTag is in the upper half of the number of an object, so that no other number is
// taken for one.
const objectTag = 0x7e << 56

// AddObject returns the number of an object, by which kernels name it.
func (e *Engine) AddObject(o Object) (number uint64) {
	o.bytes = o.Shape.Channels * o.Shape.Type.Bytes()
	number = objectTag | e.objectCount.Add(1)
	e.objects.Store(number, &o)
	return number
}

// RemoveObject makes the number of an object invalid.
func (e *Engine) RemoveObject(number uint64) { e.objects.Delete(number) }

// What is the kind of object.
func (o *Object) What() string {
	if o.Surface {
		return "surface"
	}
	return "texture"
}

// size is the elements in a direction.
func (o *Object) size(direction int) int {
	return max(1, [...]int{o.Shape.Width, o.Shape.Height, o.Shape.Depth}[direction])
}

// at is the offset of an element, which is inside.
func (o *Object) at(i [3]int, layer int) int {
	row := (layer*o.size(2)+i[2])*o.size(1) + i[1]
	return o.Offset + (row*o.size(0)+i[0])*o.bytes
}

// texel is four channels as bits of 32.
type texel [4]uint32

// floats reports whether a texture reads float32.
func (o *Object) floats() bool {
	return o.Texture.Scaled || o.Shape.Type == gpu.Float16 || o.Shape.Type == gpu.Float32
}

// element reads an element, or what stands for it outside.
func (o *Object) element(i [3]int, layer int) (v [4]float64, bits texel) {
	for d := range 3 {
		var inside bool
		if i[d], inside = o.inside(i[d], o.size(d)); !inside {
			for c := range v {
				v[c] = float64(o.Texture.Border[c])
				bits[c] = uint32(int64(o.Texture.Border[c]))
			}
			return v, bits
		}
	}
	contents := o.Memory.Contents.Load()
	if contents == nil {
		return v, bits
	}
	data := contents.Data[o.at(i, layer):]
	v[3], bits[3] = 1, 1
	for c := range o.Shape.Channels {
		v[c], bits[c] = o.channel(data[c*o.Shape.Type.Bytes():])
	}
	return v, bits
}

// channel is one channel as a number and as an integer.
func (o *Object) channel(data []byte) (float64, uint32) {
	var bits uint32
	switch o.Shape.Type.Bytes() {
	case 1:
		bits = uint32(data[0])
	case 2:
		bits = uint32(binary.LittleEndian.Uint16(data))
	default:
		bits = binary.LittleEndian.Uint32(data)
	}
	most := 1.0
	switch o.Shape.Type {
	case gpu.Float16:
		return arith.Decode(uint64(bits), "f16"), bits
	case gpu.Float32:
		return float64(math.Float32frombits(bits)), bits
	case gpu.Int8:
		bits, most = uint32(int32(int8(bits))), math.MaxInt8
	case gpu.Int16:
		bits, most = uint32(int32(int16(bits))), math.MaxInt16
	case gpu.Uint8:
		most = math.MaxUint8
	case gpu.Uint16:
		most = math.MaxUint16
	}
	if most == math.MaxInt8 || most == math.MaxInt16 {
		return max(-1, float64(float32(float64(int32(bits))/most))), bits
	}
	return float64(float32(float64(bits) / most)), bits
}

// inside applies the address mode to an index of a direction with n elements.
func (o *Object) inside(i, n int) (int, bool) {
	switch {
	case i >= 0 && i < n:
		return i, true
	case o.Texture.Buffer != nil:
		return 0, false
	}
	switch o.Texture.Address {
	case gpu.AddressBorder:
		return 0, false
	case gpu.AddressWrap:
		return (i%n + n) % n, true
	case gpu.AddressMirror:
		if i = (i%(2*n) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i, true
	}
	return min(max(i, 0), n-1), true
}

// layer is the layer that a number names.
func (o *Object) layer(n int) int { return min(max(n, 0), max(1, o.Shape.Layers)-1) }

// place is a coordinate in elements.
func (o *Object) place(x float64, direction int) float64 {
	n := float64(o.size(direction))
	if o.Texture.Normalised {
		switch o.Texture.Address {
		case gpu.AddressWrap:
			x -= math.Floor(x)
		case gpu.AddressMirror:
			if x = math.Mod(x, 2); x < 0 {
				x += 2
			}
		}
		x *= n
	}
	if x != x {
		return 0
	}
	return min(max(x, -4*n-4), 4*n+4) // far outside is outside
}

// sample reads at coordinates in so many directions.
func (o *Object) sample(x [3]float64, directions, layer int) texel {
	var base [3]int
	var weight [3]float64 // of the element behind base
	for d := range directions {
		at := o.place(x[d], d)
		if o.Texture.Filter == gpu.FilterPoint {
			base[d] = int(math.Floor(at))
			continue
		}
		fixed := int(math.Floor((at-0.5)*256 + 0.5))
		base[d], weight[d] = fixed>>8, float64(fixed&255)/256
	}
	if o.Texture.Filter == gpu.FilterPoint {
		v, bits := o.element(base, layer)
		return o.result(v, bits)
	}
	var sum [4]float64
	for corner := range 1 << directions {
		i, share := base, 1.0
		for d := range directions {
			if corner>>d&1 != 0 {
				i[d]++
				share *= weight[d]
			} else {
				share *= 1 - weight[d]
			}
		}
		if share == 0 {
			continue
		}
		v, _ := o.element(i, layer)
		for c := range sum {
			sum[c] += share * v[c]
		}
	}
	return o.result(sum, texel{})
}

// result is what the instruction writes.
func (o *Object) result(v [4]float64, bits texel) texel {
	if !o.floats() {
		return bits
	}
	for c := range v {
		bits[c] = math.Float32bits(float32(v[c]))
	}
	return bits
}

// gather is a channel of the four elements that a filter would read.
func (o *Object) gather(x [3]float64, channel int) (to texel) {
	var base [3]int
	for d := range 2 {
		base[d] = int(math.Floor((o.place(x[d], d)-0.5)*256+0.5)) >> 8
	}
	for k, corner := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		v, bits := o.element([3]int{base[0] + corner[0], base[1] + corner[1]}, 0)
		to[k] = o.result(v, bits)[channel]
	}
	return to
}
