package gpu

import (
	"fmt"
	"slices"
)

// TensorMapBytes is the size of a tensor map as a parameter: PTX declares one
// as .param .align 64 .b8 map[128].
const TensorMapBytes = 128

// TensorMap, as an argument, is the descriptor of a tensor in global memory
// whose tiles TMA instructions (cp.async.bulk.tensor) copy. It is encoded when
// the launch is submitted. Devices before sm_90 refuse it with an error that wraps
// ErrUnsupported.
//
// Source: CUDA driver API, cuTensorMapEncodeTiled, which names the limits of
// each field.
type TensorMap struct {
	Buffer  Buffer  // the tensor begins where the buffer or view does, at a multiple of 16 bytes
	Shape   []int   // elements in each direction, the fastest first; 1 to 5 of them
	Strides []int   // bytes from one element of directions 1 and on to the next; nil for a dense tensor
	Box     []int   // elements of a tile in each direction, at most 256
	Swizzle int     // bytes of the span in which 16-byte parts are exchanged: 0, 32, 64 or 128
	NaN     bool    // elements outside of the tensor, of a float type, are NaN and not zeros
	Im2col  *Im2col // tiles are pixels of images and their channels, without Box; nil for boxes
	TF32    bool    // rounds elements, of Float32, to the nearest TF32 on their way into shared memory
}

// Im2col describes the tiles of a tensor of images, whose directions are channels, width,
// height and depth where there are any, and images: 3 to 5 in all. A tile has Pixels
// pixels of Channels channels each, which the copy engine takes along width, height, depth
// and images as an implicit matrix product of a convolution wants them.
//
// Source: CUDA driver API, cuTensorMapEncodeIm2col, which names the limits of each field.
type Im2col struct {
	Lower, Upper     []int // corners of the bounding box of pixels, from the first and from the last pixel of an image
	Steps            []int // from pixel to pixel in each direction, 1 to 8; nil for 1
	Channels, Pixels int   // of a tile: at most 256 and 1024
}

func (c *Im2col) check(m TensorMap) error {
	spatial := len(m.Shape) - 2
	if m.Box != nil || spatial < 1 || spatial > 3 || len(c.Lower) != spatial || len(c.Upper) != spatial || c.Steps != nil && len(c.Steps) != spatial {
		return fmt.Errorf("%w: a tensor map in im2col mode of shape %v, box %v, corners %v and %v, steps %v, expected 3 to 5 directions, no box, and two directions less in each corner",
			ErrArgument, m.Shape, m.Box, c.Lower, c.Upper, c.Steps)
	}
	most := 1 << (16/spatial - 1) // what a corner has room for
	for i := range spatial {
		if least := -most; c.Lower[i] < least || c.Lower[i] >= most || c.Upper[i] < least || c.Upper[i] >= most || c.Steps != nil && (c.Steps[i] < 1 || c.Steps[i] > 8) {
			return fmt.Errorf("%w: a tensor map in im2col mode with corners %v and %v, steps %v, expected corners from %d to %d and steps from 1 to 8", ErrArgument, c.Lower, c.Upper, c.Steps, least, most-1)
		}
	}
	if c.Channels < 1 || c.Channels > 256 || c.Pixels < 1 || c.Pixels > 1024 {
		return fmt.Errorf("%w: a tensor map in im2col mode of %d channels and %d pixels, expected 1 to 256 and 1 to 1024", ErrArgument, c.Channels, c.Pixels)
	}
	return nil
}

// check compares the map with its buffer; the driver checks the rest.
func (m TensorMap) check(own func(Buffer) error) error {
	if m.Buffer == nil {
		return fmt.Errorf("%w: a tensor map without a buffer", ErrArgument)
	}
	if err := own(m.Buffer); err != nil {
		return err
	}
	rank := len(m.Shape)
	if m.Im2col != nil {
		if err := m.Im2col.check(m); err != nil {
			return err
		}
	} else if rank < 1 || rank > 5 || len(m.Box) != rank || m.Strides != nil && len(m.Strides) != rank-1 {
		return fmt.Errorf("%w: a tensor map of shape %v, strides %v, box %v, expected 1 to 5 directions, as many in the box, one stride less",
			ErrArgument, m.Shape, m.Strides, m.Box)
	}
	if m.Strides != nil && len(m.Strides) != rank-1 || slices.Min(m.Shape) < 1 || m.Im2col == nil && (slices.Min(m.Box) < 1 || slices.Max(m.Box) > 256) {
		return fmt.Errorf("%w: a tensor map of shape %v and box %v, expected at least 1 element in each direction and at most 256 in a box",
			ErrArgument, m.Shape, m.Box)
	}
	if !slices.Contains([]int{0, 32, 64, 128}, m.Swizzle) {
		return fmt.Errorf("%w: a tensor map with swizzle %d, expected 0, 32, 64 or 128", ErrArgument, m.Swizzle)
	}
	if m.TF32 && m.Buffer.Type() != Float32 {
		return fmt.Errorf("%w: a tensor map that rounds %v to TF32, expected %v", ErrArgument, m.Buffer.Type(), Float32)
	}
	if m.NaN && !slices.Contains([]Type{Float16, BFloat16, Float32, Float64}, m.Buffer.Type()) {
		return fmt.Errorf("%w: a tensor map that fills %v with NaN, expected a float type", ErrArgument, m.Buffer.Type())
	}
	last, bytes := m.DenseStrides(), int64(m.Buffer.Type().Bytes())
	for i, n := range m.Shape {
		if i > 0 {
			bytes += int64(n-1) * int64(last[i-1])
		} else {
			bytes *= int64(n)
		}
	}
	if have := int64(m.Buffer.Len()) * int64(m.Buffer.Type().Bytes()); bytes > have {
		return fmt.Errorf("%w: a tensor map over %d bytes of a buffer of %d", ErrArgument, bytes, have)
	}
	return nil
}

// DenseStrides is Strides, with those of a dense tensor for nil.
func (m TensorMap) DenseStrides() []int {
	if m.Strides != nil {
		return m.Strides
	}
	var strides []int
	bytes := m.Buffer.Type().Bytes()
	for _, n := range m.Shape[:len(m.Shape)-1] {
		bytes *= n
		strides = append(strides, bytes)
	}
	return strides
}
