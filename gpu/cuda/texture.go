package cuda

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// array is memory of textures and surfaces. It lives in one worker, until it is freed or the
// worker ends: unlike a buffer it cannot be kept, and a launch that was given an object is
// not replayed.
type array struct {
	dev    *Device
	shape  gpu.ArrayShape
	handle uint32
	link   *link
	freed  atomic.Bool
}

// channelFormats are CUDA's numbers of the types of channels (CUarray_format).
var channelFormats = map[gpu.Type]uint32{
	gpu.Uint8: 0x01, gpu.Uint16: 0x02, gpu.Uint32: 0x03, gpu.Int8: 0x08, gpu.Int16: 0x09, gpu.Int32: 0x0a, gpu.Float16: 0x10, gpu.Float32: 0x20,
}

// AllocArray makes an array of zeros.
func (d *Device) AllocArray(s gpu.ArrayShape) (gpu.Array, error) {
	if err := d.usable("array"); err != nil {
		return nil, err
	}
	if err := gpu.CheckArray(s); err != nil {
		return nil, fmt.Errorf("cuda: array: %w", err)
	}
	if err := d.checkSize(int64(s.Elements()) * int64(s.Type.Bytes())); err != nil {
		return nil, err
	}
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: array: %w", err)
	}
	a := &array{dev: d, shape: s, handle: d.handle(), link: l}
	c := &command.Array{Array: a.handle, Format: channelFormats[s.Type], Channels: uint32(s.Channels),
		Size: [3]uint32{uint32(s.Width), uint32(s.Height), uint32(s.Depth)}, Layers: uint32(s.Layers), Surface: s.Surface}
	if _, err := d.do(l, c, "array"); err != nil {
		return nil, err
	}
	if err := a.Upload(zeros(s)); err != nil {
		return nil, err
	}
	return a, nil
}

// zeros is a slice for Upload.
func zeros(s gpu.ArrayShape) any {
	n := s.Elements()
	switch s.Type {
	case gpu.Uint8:
		return make([]uint8, n)
	case gpu.Int8:
		return make([]int8, n)
	case gpu.Uint16, gpu.Float16:
		return make([]uint16, n)
	case gpu.Int16:
		return make([]int16, n)
	case gpu.Uint32:
		return make([]uint32, n)
	case gpu.Int32:
		return make([]int32, n)
	}
	return make([]float32, n)
}

func (a *array) Shape() gpu.ArrayShape { return a.shape }

// usable returns an error if the array is not in a worker.
func (a *array) usable(d *Device, l *link) error {
	switch {
	case a.dev != d:
		return fmt.Errorf("%w: an array of another device", gpu.ErrArgument)
	case a.freed.Load():
		return fmt.Errorf("%w: the array was freed", gpu.ErrClosed)
	case a.link != l:
		return fmt.Errorf("%w: the array was lost with its worker: make it again: %v", gpu.ErrClosed, a.link.err())
	}
	return nil
}

// Upload copies a slice to the array, by way of a buffer.
func (a *array) Upload(slice any) error {
	return a.transfer("upload", func(b gpu.Buffer) error { return b.Upload(slice) }, nil)
}

// Download copies the array to a slice.
func (a *array) Download(slice any) error {
	return a.transfer("download", nil, func(b gpu.Buffer) error { return b.Download(slice) })
}

func (a *array) transfer(what string, before, after func(gpu.Buffer) error) error {
	d := a.dev
	l, err := d.worker()
	if err == nil {
		err = a.usable(d, l)
	}
	if err != nil {
		return fmt.Errorf("cuda: %s: %w", what, err)
	}
	b, err := d.Alloc(a.shape.Type, a.shape.Elements())
	if err != nil {
		return err
	}
	defer b.Free()
	if before != nil {
		if err := before(b); err != nil {
			return err
		}
	}
	c := &command.CopyArray{Array: a.handle, Buffer: b.(*buffer).span(), Read: after != nil}
	if _, err := d.wait(l, c, what+" of an array"); err != nil {
		return err
	}
	if after != nil {
		return after(b)
	}
	return nil
}

// Free releases the array.
func (a *array) Free() error {
	if a.freed.Swap(true) {
		return fmt.Errorf("cuda: free: %w: the array was freed before", gpu.ErrClosed)
	}
	a.link.post(&command.FreeArray{Array: a.handle}) // an error means that the worker, and so the array, is gone
	return nil
}

// object is a texture or surface object.
type object struct {
	dev     *Device
	link    *link
	surface bool
	memory  func(l *link) error // whether the memory is still there
	number  uint64              // the driver's
	freed   atomic.Bool
}

// NewTexture makes a texture object.
func (d *Device) NewTexture(t gpu.Texture) (gpu.Object, error) {
	if err := gpu.CheckTexture(t); err != nil {
		return nil, fmt.Errorf("cuda: texture: %w", err)
	}
	typ, channels := t.Texel()
	c := &command.Texture{Format: channelFormats[typ], Channels: uint32(channels), Address: uint32(t.Address), Linear: t.Filter == gpu.FilterLinear,
		Normalised: t.Normalised, Scaled: t.Scaled, Border: t.Border}
	o := &object{dev: d}
	if t.Array != nil {
		a, ok := t.Array.(*array)
		if !ok {
			return nil, fmt.Errorf("cuda: texture: %w: an array of another device", gpu.ErrArgument)
		}
		c.Array, o.memory = a.handle, func(l *link) error { return a.usable(d, l) }
	} else {
		b, ok := t.Buffer.(*buffer)
		if !ok {
			return nil, fmt.Errorf("cuda: texture: %w: a buffer of another device", gpu.ErrArgument)
		}
		c.Buffer, o.memory = b.span(), func(l *link) error { return d.own(l, b) }
	}
	return o.make(c, "texture")
}

// NewSurface makes a surface object.
func (d *Device) NewSurface(of gpu.Array) (gpu.Object, error) {
	if err := gpu.CheckSurface(of); err != nil {
		return nil, fmt.Errorf("cuda: surface: %w", err)
	}
	a, ok := of.(*array)
	if !ok {
		return nil, fmt.Errorf("cuda: surface: %w: an array of another device", gpu.ErrArgument)
	}
	o := &object{dev: d, surface: true, memory: func(l *link) error { return a.usable(d, l) }}
	return o.make(&command.Surface{Array: a.handle}, "surface")
}

func (o *object) make(c command.Command, what string) (gpu.Object, error) {
	l, err := o.dev.worker()
	if err == nil {
		err = o.memory(l)
	}
	if err != nil {
		return nil, fmt.Errorf("cuda: %s: %w", what, err)
	}
	answer, err := o.dev.do(l, c, what)
	if err != nil {
		return nil, err
	}
	o.link, o.number = l, uint64(answer.Values[0])
	return o, nil
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
		return fmt.Errorf("cuda: free: %w: the %s object was freed before", gpu.ErrClosed, o.What())
	}
	o.link.post(&command.FreeObject{Object: int64(o.number), Surface: o.surface})
	return nil
}

// putObjects puts the numbers of a launch's objects into its parameters.
func (e *entry) putObjects(l *link, args []any, params []byte) error {
	for i, arg := range args {
		a, ok := arg.(gpu.Object)
		if !ok {
			continue
		}
		o, ok := a.(*object)
		var err error
		switch {
		case !ok || o.dev != e.module.dev:
			err = fmt.Errorf("%w: a %s object of another device", gpu.ErrArgument, a.What())
		case o.freed.Load():
			err = fmt.Errorf("%w: the %s object was freed", gpu.ErrClosed, o.What())
		case o.link != l:
			err = fmt.Errorf("%w: the %s object was lost with its worker: make it again: %v", gpu.ErrClosed, o.What(), o.link.err())
		default:
			err = o.memory(l)
		}
		if err != nil {
			return fmt.Errorf("cuda: launch %s: argument %d, %s: %w", e.Name(), i, e.params[i].Name, err)
		}
		binary.LittleEndian.PutUint64(params[e.offsets[i]:], o.number)
	}
	return nil
}

// hasObject reports whether a launch was given a texture or surface object.
func hasObject(l *gpu.Launch) bool {
	for _, a := range l.Args {
		if _, ok := a.(gpu.Object); ok {
			return true
		}
	}
	return false
}
