package gpu

import (
	"fmt"
	"slices"
)

// ArrayShape describes an array: memory in the layout of textures, which only texture and
// surface instructions access.
type ArrayShape struct {
	Type     Type // of a channel: a type of 8 to 32 bits, but no BFloat16
	Channels int  // of an element: 1, 2 or 4
	Width    int
	Height   int  // 0 for one direction
	Depth    int  // 0 for one or two directions
	Layers   int  // of one or two directions; 0 for none
	Surface  bool // surface objects may be made of it
}

// Elements is the number of channels of all elements, the length of the slice of Upload
// and Download. Channels lie side by side, then elements of Width, Height and Depth or
// Layers.
func (s ArrayShape) Elements() int {
	return s.Channels * s.Width * max(1, s.Height) * max(1, s.Depth) * max(1, s.Layers)
}

// Array is memory that textures and surfaces read. Its contents are 0 at first.
type Array interface {
	Shape() ArrayShape

	// Upload copies a slice of the shape's type to the array, Download the other way.
	// Both return when the copy is done, and wait for all work of the device.
	Upload(slice any) error
	Download(slice any) error

	// Free releases the array. Objects of it must be freed before.
	Free() error
}

// Address says which element is read outside of an array.
type Address uint8

// The address modes. Wrap and Mirror need normalised coordinates.
const (
	AddressClamp  Address = iota // the nearest element
	AddressBorder                // Texture.Border
	AddressWrap                  // the array repeats
	AddressMirror                // the array repeats, every second time backwards
)

// Filter says how a texture is read between elements.
type Filter uint8

// FilterPoint reads the element that holds the coordinates, FilterLinear interpolates
// between the nearest two in each direction, with weights of 8 fraction bits.
const (
	FilterPoint Filter = iota
	FilterLinear
)

// Texture describes a texture object: what it reads, and how.
type Texture struct {
	Array Array

	// Buffer is read instead of an Array, in one direction and by whole coordinates, as
	// tex1Dfetch does. What is outside of it reads as 0.
	Buffer   Buffer
	Channels int // of an element of Buffer: 1, 2 or 4

	Address    Address // of all directions
	Filter     Filter
	Normalised bool       // coordinates are fractions of each direction
	Scaled     bool       // integers of 8 and 16 bits are read as fractions of the largest
	Border     [4]float32 // for AddressBorder; integers are read as its bits
}

// Object is a texture or surface object: an argument for a parameter of type
// cudaTextureObject_t or cudaSurfaceObject_t.
type Object interface {
	// What is "texture" or "surface".
	What() string
	Free() error
}

// textureTypes are the types of channels.
var textureTypes = []Type{Uint8, Int8, Uint16, Int16, Uint32, Int32, Float16, Float32}

// The largest arrays (CUDA programming guide, technical specifications for compute
// capability 7.5 to 9.0).
var (
	largest1D        = ArrayShape{Width: 131072}
	largest2D        = ArrayShape{Width: 131072, Height: 65536}
	largest3D        = ArrayShape{Width: 16384, Height: 16384, Depth: 16384}
	largestLayered1D = ArrayShape{Width: 32768, Layers: 2048}
	largestLayered2D = ArrayShape{Width: 32768, Height: 32768, Layers: 2048}
)

// largestBuffer is the most elements of a texture of a Buffer.
const largestBuffer = 1 << 28

// CheckArray returns an error for an array that no device makes.
func CheckArray(s ArrayShape) error {
	switch {
	case !slices.Contains(textureTypes, s.Type):
		return fmt.Errorf("%w: an array of %v, expected one of %v", ErrArgument, s.Type, textureTypes)
	case !slices.Contains([]int{1, 2, 4}, s.Channels):
		return fmt.Errorf("%w: an array of %d channels, expected 1, 2 or 4: pad 3 channels to 4", ErrArgument, s.Channels)
	case s.Width < 1 || s.Height < 0 || s.Depth < 0 || s.Layers < 0 || s.Depth > 0 && s.Height == 0 || s.Depth > 0 && s.Layers > 0:
		return fmt.Errorf("%w: an array of width %d, height %d, depth %d and %d layers, expected a width, a height if there is a depth, and no layers beside a depth",
			ErrArgument, s.Width, s.Height, s.Depth, s.Layers)
	}
	most := largest1D
	switch {
	case s.Layers > 0 && s.Height > 0:
		most = largestLayered2D
	case s.Layers > 0:
		most = largestLayered1D
	case s.Depth > 0:
		most = largest3D
	case s.Height > 0:
		most = largest2D
	}
	if s.Width > most.Width || s.Height > most.Height || s.Depth > most.Depth || s.Layers > most.Layers {
		return fmt.Errorf("%w: an array of width %d, height %d, depth %d and %d layers, expected at most %d, %d, %d and %d: split it",
			ErrArgument, s.Width, s.Height, s.Depth, s.Layers, most.Width, most.Height, most.Depth, most.Layers)
	}
	return nil
}

// Texel is the type and the number of channels that a texture reads.
func (t Texture) Texel() (Type, int) {
	if t.Array != nil {
		s := t.Array.Shape()
		return s.Type, s.Channels
	}
	return t.Buffer.Type(), t.Channels
}

// CheckTexture returns an error for a texture that no device makes.
func CheckTexture(t Texture) error {
	if (t.Array == nil) == (t.Buffer == nil) {
		return fmt.Errorf("%w: a texture with both Array and Buffer, or without both, expected one of them: set exactly one of Array and Buffer", ErrArgument)
	}
	typ, channels := t.Texel()
	float := typ == Float16 || typ == Float32
	switch {
	case t.Buffer != nil && !slices.Contains(textureTypes, typ):
		return fmt.Errorf("%w: a texture of %v, expected one of %v", ErrArgument, typ, textureTypes)
	case t.Buffer != nil && (!slices.Contains([]int{1, 2, 4}, channels) || t.Buffer.Len()%channels != 0):
		return fmt.Errorf("%w: a texture of %d elements in %d channels, expected 1, 2 or 4 channels that divide them: set Channels", ErrArgument, t.Buffer.Len(), channels)
	case t.Buffer != nil && t.Buffer.Len()/channels > largestBuffer:
		return fmt.Errorf("%w: a texture of %d elements of a buffer, expected at most %d: use a View", ErrArgument, t.Buffer.Len()/channels, largestBuffer)
	case t.Buffer != nil && (t.Filter != FilterPoint || t.Normalised || t.Address > AddressBorder):
		return fmt.Errorf("%w: a texture of a buffer with a filter, normalised coordinates or an address mode, expected none: copy it to an Array", ErrArgument)
	case t.Address > AddressMirror || t.Filter > FilterLinear:
		return fmt.Errorf("%w: address mode %d and filter %d, expected the constants of package gpu", ErrArgument, t.Address, t.Filter)
	case t.Address > AddressBorder && !t.Normalised:
		return fmt.Errorf("%w: a texture that wraps or mirrors coordinates in elements, expected fractions: set Normalised", ErrArgument)
	case t.Scaled && (float || typ.Bytes() == 4):
		return fmt.Errorf("%w: a texture that scales %v, expected integers of 8 or 16 bits: leave Scaled unset", ErrArgument, typ)
	case t.Filter == FilterLinear && !float && !t.Scaled:
		return fmt.Errorf("%w: a texture that interpolates %v, expected %v, %v or scaled integers: set Scaled or use FilterPoint", ErrArgument, typ, Float16, Float32)
	}
	return nil
}

// CheckSurface returns an error for an array of which no surface object is made.
func CheckSurface(a Array) error {
	if a == nil || !a.Shape().Surface {
		return fmt.Errorf("%w: a surface of an array that is none, or was made without Surface: set ArrayShape.Surface", ErrArgument)
	}
	return nil
}

// checkObject checks a texture or surface object for a parameter.
func checkObject(p Param, o Object) error {
	if p.Bytes != 8 || p.compound() {
		return fmt.Errorf("%w: a %s object, expected %s", ErrArgument, o.What(), p.wanted())
	}
	return nil
}
