// Package texture is the texture unit of the emulator: what texture and surface objects
// read. Its main type is Object; Objects numbers those of an engine. Package engine, which it
// must not import, lowers the instructions; package emu makes the objects.
package texture

import (
	"encoding/binary"
	"math"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
)

// An array is an allocation in rows; the layout of a GPU's arrays is not documented and not
// seen.
//
// Sources: CUDA C++ Programming Guide, texture fetching, and the results of an H100 for
// the programs "texture N" of package programs, searched for the rule that gives the
// checksums of all rows. Each rule below names its programs. Assumed and not compared with
// a GPU: a missing channel reads as 0, the fourth as 1; the
// border of a texture of integers is the bits of Border, as the driver API's documentation
// of CUDA_TEXTURE_DESC says.
// Reads are not counted: the profiler's counters of the texture unit are not modelled.

// Object is a texture or surface object.
type Object struct {
	Surface bool
	Texture gpu.Texture // of a texture object
	Shape   gpu.ArrayShape
	Memory  *mem.Allocation
	Offset  int // bytes, of the first element
	Pitch   int // bytes from row to row; 0 where rows lie side by side

	// Addresses are the address modes of the directions; Objects.Add sets them to that of
	// Texture where there are none.
	Addresses []gpu.Address
}

// ElementBytes is the size of an element.
func (o *Object) ElementBytes() int { return o.Shape.Channels * o.Shape.Type.Bytes() }

// What is the kind of object.
func (o *Object) What() string {
	if o.Surface {
		return "surface"
	}
	return "texture"
}

// Size is the elements in a direction.
func (o *Object) Size(direction int) int {
	return max(1, [...]int{o.Shape.Width, o.Shape.Height, o.Shape.Depth}[direction])
}

// Row is the offset in the memory of the row of an element, which is inside.
func (o *Object) Row(i [3]int, layer int) int {
	return o.Offset + ((layer*o.Size(2)+i[2])*o.Size(1)+i[1])*o.Pitch
}

// at is the offset of an element, which is inside.
func (o *Object) at(i [3]int, layer int) int { return o.Row(i, layer) + i[0]*o.ElementBytes() }

// Texel is four channels as bits of 32.
type Texel [4]uint32

// Floats reports whether a texture reads float32.
func (o *Object) Floats() bool {
	return o.Texture.Scaled || o.Shape.Type == gpu.Float16 || o.Shape.Type == gpu.Float32
}

// element reads an element, or what stands for it outside.
func (o *Object) element(i [3]int, layer int) (v [4]float64, bits Texel) {
	for d := range 3 {
		var inside bool
		if i[d], inside = o.inside(i[d], d); !inside {
			for c := range v {
				v[c] = float64(o.Texture.Border[c])
				bits[c] = math.Float32bits(o.Texture.Border[c])
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

// inside applies the address mode to an index of a direction.
func (o *Object) inside(i, direction int) (int, bool) {
	n := o.Size(direction)
	switch {
	case i >= 0 && i < n:
		return i, true
	case o.Texture.Buffer != nil:
		return 0, false
	}
	switch o.Addresses[direction] {
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

// Layer is the layer that a number of a surface names.
func (o *Object) Layer(n int) int { return min(max(n, 0), max(1, o.Shape.Layers)-1) }

// place is a coordinate in elements.
func (o *Object) place(x float64, direction int) float64 {
	n := float64(o.Size(direction))
	if o.Texture.Normalised {
		switch o.Addresses[direction] {
		case gpu.AddressWrap:
			x -= math.Floor(x)
		case gpu.AddressMirror:
			if x = math.Mod(x, 2); x < 0 {
				x += 2
			}
		}
		// The H100 cuts a normalised coordinate to 21 bits behind the point before it
		// multiplies (programs 10 to 17: no other number of bits gives all of them).
		const bits = 1 << 21
		x = math.Floor(x*bits) / bits * n
	}
	if x != x {
		return 0
	}
	return min(max(x, -4*n-4), 4*n+4) // far outside is outside
}

// Sample reads at coordinates in so many directions. Outside, whole coordinates read 0
// in every address mode but that of a border, which is not compared (program 36).
func (o *Object) Sample(x [3]float64, directions, layer int, whole bool) Texel {
	var base, weight [3]int // weight is in 1/256, of the element behind base
	for d := range directions {
		at := o.place(x[d], d)
		if o.Texture.Filter == gpu.FilterPoint {
			base[d] = int(math.Floor(at))
			if whole && o.Addresses[d] != gpu.AddressBorder && (base[d] < 0 || base[d] >= o.Size(d)) {
				return Texel{}
			}
			continue
		}
		fixed := int(math.Floor((at-0.5)*256 + 0.5))
		base[d], weight[d] = fixed>>8, fixed&255
		// Where both elements are the nearest one, there is no split (programs 5 and 21).
		if last := o.Size(d) - 1; o.Addresses[d] == gpu.AddressClamp && (base[d] < 0 || base[d] >= last) {
			base[d], weight[d] = min(max(base[d], 0), last), 0
		}
	}
	if o.Texture.Filter == gpu.FilterPoint {
		v, bits := o.element(base, layer)
		return o.result(v, bits)
	}
	var corners [8][4]float64
	share := shares(weight)
	for corner := range corners {
		if share[corner] == 0 {
			continue
		}
		i := base
		for d := range directions {
			i[d] += corner >> d & 1
		}
		corners[corner], _ = o.element(i, layer)
	}
	var sum [4]float64
	for c := range sum {
		sum[c] = o.filtered(share, corners, c)
	}
	return o.result(sum, Texel{})
}

// shares are the weights of the corners: bit d of a corner's number is set if it is behind
// base in direction d. The H100 splits 256 by the third direction, each part by the first
// and each of these by the second. It rounds one part of a split to a whole number, a half
// up, and the other part is what is left. An H100 gives these weights at 16 384 points of
// textures that are 1 at one corner and 0 elsewhere, and in programs 3, 5, 9, 11, 13, 15,
// 17, 18 and 21.
func shares(weight [3]int) (of [8]float64) {
	part := func(n, of int) int { return (n*of + 128) >> 8 }
	for z, slice := range [2]int{256 - weight[2], weight[2]} {
		column := part(weight[0], slice) // of the second element
		both, neither := part(weight[1], column), part(256-weight[1], slice-column)
		for corner, n := range [4]int{neither, column - both, slice - column - neither, both} {
			of[4*z+corner] = float64(n) / 256
		}
	}
	return of
}

// filtered is the sum of a channel's elements times their shares. The H100 aligns the
// elements to the largest, keeps four bits below its last one and cuts the others off; it
// rounds the sum to nearest, a half away from 0: to float32 (programs 19, 20 and 21) or
// float16 (program 22). Of uint8 it rounds to 1/65535 (program 31). Sums of the other types
// are rounded once: no program filters them.
func (o *Object) filtered(share [8]float64, corners [8][4]float64, channel int) float64 {
	bits, least := 0, 0
	switch o.Shape.Type {
	case gpu.Float32:
		bits, least = 24, -149
	case gpu.Float16:
		bits, least = 11, -24
	}
	largest := 0.0
	for corner := range corners {
		largest = max(largest, math.Abs(corners[corner][channel]))
	}
	sum := 0.0
	for corner := range corners {
		v := corners[corner][channel]
		if bits > 0 && largest > 0 && !math.IsInf(largest, 0) {
			_, exponent := math.Frexp(largest)
			v = math.Ldexp(math.Trunc(math.Ldexp(v, bits+4-exponent)), exponent-bits-4)
		}
		if share[corner] != 0 {
			sum += share[corner] * v
		}
	}
	switch {
	case bits > 0:
		return nearestAway(sum, bits, least)
	case o.Shape.Type == gpu.Uint8:
		return math.Round(sum*math.MaxUint16) / math.MaxUint16
	}
	return sum
}

// nearestAway rounds to so many bits, the last of which is 2^least or more, a half away
// from 0.
func nearestAway(v float64, bits, least int) float64 {
	_, e := math.Frexp(v)
	e = max(e-bits, least)
	return math.Ldexp(math.Round(math.Ldexp(v, -e)), e)
}

// result is what the instruction writes.
func (o *Object) result(v [4]float64, bits Texel) Texel {
	if !o.Floats() {
		return bits
	}
	for c := range v {
		bits[c] = math.Float32bits(float32(v[c]))
	}
	return bits
}

// Gather is a channel of the four elements that a filter would read.
func (o *Object) Gather(x [3]float64, channel int) (to Texel) {
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

// Geometry is the word for an object's shape.
func (o *Object) Geometry() string {
	s := "1d"
	switch {
	case o.Shape.Depth > 0:
		s = "3d"
	case o.Shape.Height > 0:
		s = "2d"
	}
	if o.Shape.Layers > 0 {
		s = "a" + s
	}
	return s
}
