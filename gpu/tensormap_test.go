package gpu

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// sized is a buffer of so many elements and no memory.
type sized struct {
	Buffer
	elements Type
	n        int
}

func (s sized) Type() Type { return s.elements }
func (s sized) Len() int   { return s.n }

// What no tensor map can be is refused before the driver is asked.
func TestTensorMapCheck(t *testing.T) {
	x, half := sized{elements: Float32, n: 32 * 16}, sized{elements: Float16, n: 32 * 16}
	foreign := errors.New("of another device")
	for _, c := range []struct {
		m    TensorMap
		want string // "" for a map that is taken
	}{
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{8, 4}}, ""},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{8, 4}, Swizzle: 32, TF32: true}, ""},
		{TensorMap{Buffer: x, Shape: []int{30, 16}, Strides: []int{128}, Box: []int{256, 256}}, ""},
		{TensorMap{Buffer: half, Shape: []int{32, 4, 4}, Box: []int{8, 4, 1}}, ""},
		{TensorMap{Shape: []int{32}, Box: []int{8}}, "without a buffer"},
		{TensorMap{Box: []int{8}, Buffer: x}, "expected 1 to 5 directions"},
		{TensorMap{Buffer: x, Shape: []int{1, 1, 1, 1, 1, 1}, Box: []int{1, 1, 1, 1, 1, 1}}, "expected 1 to 5 directions"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{8}}, "as many in the box"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Strides: []int{128, 4}, Box: []int{8, 4}}, "one stride less"},
		{TensorMap{Buffer: x, Shape: []int{32, 0}, Box: []int{8, 4}}, "at least 1 element"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{8, 0}}, "at least 1 element"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{257, 1}}, "at most 256 in a box"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Box: []int{8, 4}, Swizzle: 16}, "expected 0, 32, 64 or 128"},
		{TensorMap{Buffer: half, Shape: []int{32, 16}, Box: []int{8, 4}, TF32: true}, "rounds float16 to TF32, expected float32"},
		{TensorMap{Buffer: x, Shape: []int{32, 17}, Box: []int{8, 4}}, "over 2176 bytes of a buffer of 2048"},
		{TensorMap{Buffer: x, Shape: []int{32, 16}, Strides: []int{144}, Box: []int{8, 4}}, "over 2288 bytes of a buffer of 2048"},
	} {
		err := c.m.check(func(Buffer) error { return nil })
		if c.want == "" && err == nil && c.m.check(func(Buffer) error { return foreign }) == foreign {
			continue
		}
		if c.want == "" || !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.m, err, c.want)
		}
	}
	if m := (TensorMap{Buffer: half, Shape: []int{32, 4, 4}}); !slices.Equal(m.DenseStrides(), []int{64, 256}) {
		t.Errorf("strides of a dense tensor: %v", m.DenseStrides())
	}
}
