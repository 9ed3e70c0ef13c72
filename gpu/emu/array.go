package emu

import (
	"fmt"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/texture"
)

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
	dev    *Device
	number uint64 // the argument of a kernel
	what   string
	freed  atomic.Bool
}

// NewTexture makes a texture object.
func (d *Device) NewTexture(t gpu.Texture) (gpu.Object, error) {
	if err := gpu.CheckTexture(t); err != nil {
		return nil, fmt.Errorf("emu: texture: %w", err)
	}
	if t.Array != nil {
		return d.newObject(texture.Object{Texture: t}, t.Array)
	}
	if err := d.own(t.Buffer); err != nil {
		return nil, fmt.Errorf("emu: texture: %w", err)
	}
	b := t.Buffer.(*buffer)
	shape := gpu.ArrayShape{Type: b.typ, Channels: t.Channels, Width: b.n / t.Channels}
	return d.register(texture.Object{Texture: t, Shape: shape, Memory: b.memory, Offset: b.offset}), nil
}

// NewSurface makes a surface object.
func (d *Device) NewSurface(a gpu.Array) (gpu.Object, error) {
	if err := gpu.CheckSurface(a); err != nil {
		return nil, fmt.Errorf("emu: surface: %w", err)
	}
	return d.newObject(texture.Object{Surface: true}, a)
}

func (d *Device) newObject(o texture.Object, of gpu.Array) (gpu.Object, error) {
	a, ok := of.(*array)
	if !ok || a.dev != d {
		return nil, fmt.Errorf("emu: %s: %w: an array of another device", o.What(), gpu.ErrArgument)
	}
	if err := d.own(a.memory); err != nil {
		return nil, fmt.Errorf("emu: %s: %w", o.What(), err)
	}
	o.Memory, o.Shape = a.memory.memory, a.shape
	return d.register(o), nil
}

func (d *Device) register(o texture.Object) *object {
	return &object{dev: d, number: d.engine.Objects().Add(o), what: o.What()}
}

// What is the kind of object.
func (o *object) What() string { return o.what }

// Layout is memory in rows, of which whole programs make objects.
type Layout struct {
	Shape     gpu.ArrayShape
	Pitch     int           // bytes from row to row; 0 where rows lie side by side
	Addresses []gpu.Address // of the directions
	Linear    bool          // read by whole coordinates alone, as tex1Dfetch does
}

// bytes are those from the first element to the last.
func (l Layout) bytes() int {
	row := l.Shape.Width * l.Shape.Channels * l.Shape.Type.Bytes()
	rows := max(1, l.Shape.Height) * max(1, l.Shape.Depth) * max(1, l.Shape.Layers)
	return (rows-1)*max(l.Pitch, row) + row
}

// NewObject makes a texture object of a buffer's memory, or a surface object if that is what
// the layout's shape is for, and returns its number in kernels. Of the texture the fields
// that describe reads count.
func (d *Device) NewObject(b gpu.Buffer, l Layout, t gpu.Texture) (gpu.Object, uint64, error) {
	if err := d.own(b); err != nil {
		return nil, 0, fmt.Errorf("emu: texture: %w", err)
	}
	m := b.(*buffer)
	if have := m.n * m.typ.Bytes(); l.bytes() > have {
		return nil, 0, fmt.Errorf("emu: texture: %w: %d bytes of memory, expected at least %d", gpu.ErrArgument, have, l.bytes())
	}
	a := &array{d, l.Shape, m}
	o := texture.Object{Shape: l.Shape, Memory: m.memory, Offset: m.offset, Pitch: l.Pitch, Addresses: l.Addresses, Surface: l.Shape.Surface}
	if !o.Surface {
		if l.Linear {
			t = gpu.Texture{Scaled: t.Scaled}
		}
		t.Array = a
		if err := gpu.CheckTexture(t); err != nil {
			return nil, 0, fmt.Errorf("emu: texture: %w", err)
		}
		if l.Linear {
			t.Array, t.Buffer = nil, b
		}
		o.Texture = t
	}
	made := d.register(o)
	return made, made.number, nil
}

// Free releases the object.
func (o *object) Free() error {
	if o.freed.Swap(true) {
		return fmt.Errorf("emu: free: %w: the %s object was freed before", gpu.ErrClosed, o.what)
	}
	o.dev.engine.Objects().Remove(o.number)
	return nil
}

// usable returns an error for an object that a launch cannot have.
func (o *object) usable(d *Device) error {
	switch {
	case o.dev != d:
		return fmt.Errorf("%w: a %s object of another device", gpu.ErrArgument, o.what)
	case o.freed.Load():
		return fmt.Errorf("%w: the %s object was freed", gpu.ErrClosed, o.what)
	}
	return nil
}
