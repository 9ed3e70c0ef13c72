package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

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

// array is memory of textures and surfaces.
type array struct {
	dev    *Device
	shape  gpu.ArrayShape
	memory *buffer
}

// AllocArray returns an array of zeros.
func (d *Device) AllocArray(s gpu.ArrayShape) (gpu.Array, error) {
	if err := gpu.CheckArray(s); err != nil {
		return nil, fmt.Errorf("emu: array: %w", err)
	}
	b, err := d.Alloc(s.Type, s.Elements())
	if err != nil {
		return nil, err
	}
	if err := d.Zero(b); err != nil {
		return nil, err
	}
	return &array{d, s, b.Label("array").(*buffer)}, nil
}

func (a *array) Shape() gpu.ArrayShape    { return a.shape }
func (a *array) Upload(slice any) error   { return a.memory.Upload(slice) }
func (a *array) Download(slice any) error { return a.memory.Download(slice) }
func (a *array) Free() error              { return a.memory.Free() }

// object is a texture or surface object.
type object struct {
	dev     *Device
	surface bool
	texture gpu.Texture
	typ     gpu.Type
	bytes   int // of an element
	shape   gpu.ArrayShape
	memory  *mem.Allocation
	offset  int
	number  uint64 // the argument of a kernel
	freed   atomic.Bool
}

// objectTag is in the upper half of the number of an object, so that no other number is
// taken for one.
const objectTag = 0x7e << 56

// NewTexture makes a texture object.
func (d *Device) NewTexture(t gpu.Texture) (gpu.Object, error) {
	if err := gpu.CheckTexture(t); err != nil {
		return nil, fmt.Errorf("emu: texture: %w", err)
	}
	o := &object{texture: t}
	if t.Array != nil {
		return d.newObject(o, t.Array)
	}
	if err := d.own(t.Buffer); err != nil {
		return nil, fmt.Errorf("emu: texture: %w", err)
	}
	b := t.Buffer.(*buffer)
	o.memory, o.offset = b.memory, b.offset
	o.shape = gpu.ArrayShape{Type: b.typ, Channels: t.Channels, Width: b.n / t.Channels}
	return d.register(o), nil
}

// NewSurface makes a surface object.
func (d *Device) NewSurface(a gpu.Array) (gpu.Object, error) {
	if err := gpu.CheckSurface(a); err != nil {
		return nil, fmt.Errorf("emu: surface: %w", err)
	}
	return d.newObject(&object{surface: true}, a)
}

func (d *Device) newObject(o *object, of gpu.Array) (gpu.Object, error) {
	a, ok := of.(*array)
	if !ok || a.dev != d {
		return nil, fmt.Errorf("emu: %s: %w: an array of another device", o.What(), gpu.ErrArgument)
	}
	if err := d.own(a.memory); err != nil {
		return nil, fmt.Errorf("emu: %s: %w", o.What(), err)
	}
	o.memory, o.shape = a.memory.memory, a.shape
	return d.register(o), nil
}

func (d *Device) register(o *object) *object {
	o.dev, o.typ, o.bytes = d, o.shape.Type, o.shape.Channels*o.shape.Type.Bytes()
	o.number = objectTag | d.objectCount.Add(1)
	d.objects.Store(o.number, o)
	return o
}

// What is the kind of object.
func (o *object) What() string {
	if o.surface {
		return "surface"
	}
	return "texture"
}

// Free releases the object.
func (o *object) Free() error {
	if o.freed.Swap(true) {
		return fmt.Errorf("emu: free: %w: the %s object was freed before", gpu.ErrClosed, o.What())
	}
	o.dev.objects.Delete(o.number)
	return nil
}

// usable returns an error for an object that a launch cannot have.
func (o *object) usable(d *Device) error {
	switch {
	case o.dev != d:
		return fmt.Errorf("%w: a %s object of another device", gpu.ErrArgument, o.What())
	case o.freed.Load():
		return fmt.Errorf("%w: the %s object was freed", gpu.ErrClosed, o.What())
	}
	return nil
}

// size is the elements in a direction.
func (o *object) size(direction int) int {
	return max(1, [...]int{o.shape.Width, o.shape.Height, o.shape.Depth}[direction])
}

// at is the offset of an element, which is inside.
func (o *object) at(i [3]int, layer int) int {
	row := (layer*o.size(2)+i[2])*o.size(1) + i[1]
	return o.offset + (row*o.size(0)+i[0])*o.bytes
}

// texel is four channels as bits of 32.
type texel [4]uint32

// floats reports whether a texture reads float32.
func (o *object) floats() bool {
	return o.texture.Scaled || o.typ == gpu.Float16 || o.typ == gpu.Float32
}

// element reads an element, or what stands for it outside.
func (o *object) element(i [3]int, layer int) (v [4]float64, bits texel) {
	for d := range 3 {
		var inside bool
		if i[d], inside = o.inside(i[d], o.size(d)); !inside {
			for c := range v {
				v[c] = float64(o.texture.Border[c])
				bits[c] = uint32(int64(o.texture.Border[c]))
			}
			return v, bits
		}
	}
	contents := o.memory.Contents.Load()
	if contents == nil {
		return v, bits
	}
	data := contents.Data[o.at(i, layer):]
	v[3], bits[3] = 1, 1
	for c := range o.shape.Channels {
		v[c], bits[c] = o.channel(data[c*o.typ.Bytes():])
	}
	return v, bits
}

// channel is one channel as a number and as an integer.
func (o *object) channel(data []byte) (float64, uint32) {
	var bits uint32
	switch o.typ.Bytes() {
	case 1:
		bits = uint32(data[0])
	case 2:
		bits = uint32(binary.LittleEndian.Uint16(data))
	default:
		bits = binary.LittleEndian.Uint32(data)
	}
	most := 1.0
	switch o.typ {
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
func (o *object) inside(i, n int) (int, bool) {
	switch {
	case i >= 0 && i < n:
		return i, true
	case o.texture.Buffer != nil:
		return 0, false
	}
	switch o.texture.Address {
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
func (o *object) layer(n int) int { return min(max(n, 0), max(1, o.shape.Layers)-1) }

// place is a coordinate in elements.
func (o *object) place(x float64, direction int) float64 {
	n := float64(o.size(direction))
	if o.texture.Normalised {
		switch o.texture.Address {
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
func (o *object) sample(x [3]float64, directions, layer int) texel {
	var base [3]int
	var weight [3]float64 // of the element behind base
	for d := range directions {
		at := o.place(x[d], d)
		if o.texture.Filter == gpu.FilterPoint {
			base[d] = int(math.Floor(at))
			continue
		}
		fixed := int(math.Floor((at-0.5)*256 + 0.5))
		base[d], weight[d] = fixed>>8, float64(fixed&255)/256
	}
	if o.texture.Filter == gpu.FilterPoint {
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
func (o *object) result(v [4]float64, bits texel) texel {
	if !o.floats() {
		return bits
	}
	for c := range v {
		bits[c] = math.Float32bits(float32(v[c]))
	}
	return bits
}

// gather is a channel of the four elements that a filter would read.
func (o *object) gather(x [3]float64, channel int) (to texel) {
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
