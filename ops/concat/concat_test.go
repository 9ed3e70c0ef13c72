package concat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

// Two rows of three and one floats, by hand.
func TestReference(t *testing.T) {
	got := reference(nil, ladder.Size{2, 3, 1}, []ladder.Values{[]float32{1, 2, 3, 4, 5, 6}, []float32{7, 8}})[0].Exact
	if !ladder.SameBits(got, []float32{1, 2, 3, 7, 4, 5, 6, 8}) {
		t.Errorf("%v", got)
	}
}

// Along joins along every dimension: a batch, one to three tensors, and tensors without
// elements, with every rung. What is expected comes from coordinates, not from rows.
func TestAlong(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for dim, shapes := range [][][]int{
			{{3, 4, 5}, {2, 4, 5}},
			{{3, 4, 5}, {3, 7, 5}},
			{{3, 4, 5}, {3, 4, 1}},
		} {
			for _, v := range Operator.Variants {
				along(t, d, v.Name, dim, shapes)
			}
		}
		along(t, d, "", 2, [][]int{{2, 3, 4, 5}, {2, 3, 2, 5}}) // a batch of 2
		along(t, d, "", 0, [][]int{{5}})
		along(t, d, "", 1, [][]int{{4, 3}, {4, 0}, {4, 2}})
		along(t, d, "", 1, [][]int{{4, 0}, {4, 0}})
		along(t, d, "", 1, [][]int{{0, 3}, {0, 2}})
	})
}

func along(t *testing.T, d gpu.Device, rung string, dim int, shapes [][]int) {
	t.Helper()
	joined := slices.Clone(shapes[0])
	joined[dim] = 0
	for _, s := range shapes {
		joined[dim] += s[dim]
	}
	want := make([]float32, count(joined))
	var parts []Part
	next, start := float32(0), 0
	for _, s := range shapes {
		x := make([]float32, count(s))
		for i := range x {
			next++
			x[i] = next
			at := 0 // in y
			for k, rest := 0, i; k < len(s); k++ {
				stride := count(s[k+1:])
				coordinate := rest / stride
				rest %= stride
				if k == dim {
					coordinate += start
				}
				at = at*joined[k] + coordinate
			}
			want[at] = next
		}
		start += s[dim]
		parts = append(parts, Part{upload(t, d, x), s})
	}
	got := slices.Repeat([]float32{-1}, len(want))
	y := upload(t, d, got)
	h := bench.NewHandle(d)
	defer h.Close()
	h.Variant = rung
	err := Along(h, dim, parts, y)
	if rung == "concat_bulk" && errors.Is(err, gpu.ErrUnsupported) && ladder.Older(d.Info().Compute, gpu.Compute{Major: 9}) {
		return // the suite lists it
	}
	if err == nil {
		err = y.Download(got)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v along %d: %v, %v, expected %v", rung, shapes, dim, got, err, want)
	}
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func upload(t *testing.T, d gpu.Device, x []float32) gpu.Buffer {
	t.Helper()
	b, err := d.Alloc(gpu.Float32, len(x))
	if err == nil {
		t.Cleanup(func() { b.Free() })
		err = b.Upload(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What cannot be is refused in one line.
func TestAlongRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := bench.NewHandle(d)
		defer h.Close()
		x, y := upload(t, d, make([]float32, 12)), upload(t, d, make([]float32, 24))
		halves, err := d.Alloc(gpu.Float16, 12)
		if err != nil {
			t.Fatal(err)
		}
		defer halves.Free()
		one := Part{x, []int{3, 4}}
		head, err := y.View(0, 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			says  string
			dim   int
			parts []Part
			y     gpu.Buffer
		}{
			{"at least one tensor", 0, nil, y},
			{"expected 0 to 1", 2, []Part{one, one}, y},
			{"expected 0 to 1", -1, []Part{one, one}, y},
			{"3 dimensions", 0, []Part{one, {x, []int{3, 2, 2}}}, y},
			{"dimension 0 is 4", 1, []Part{one, {x, []int{4, 3}}}, y},
			{"a dimension of -3", 0, []Part{{x, []int{-3, 4}}, one}, y},
			{"a product of at most", 0, []Part{{x, []int{1 << 20, 1 << 20}}, {x, []int{0, 1 << 20}}}, y},
			{"at least 16", 0, []Part{one, {x, []int{4, 4}}}, y},
			{"a buffer of 12 elements", 0, []Part{one, one}, x},
			{"float16", 0, []Part{one, {halves, []int{3, 4}}}, y},
			{"shares elements", 0, []Part{one, {head, []int{3, 4}}}, y},
			{"no buffer", 0, []Part{one, {nil, []int{3, 4}}}, y},
		} {
			err := Along(h, c.dim, c.parts, c.y)
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, expected one line with %q", fmt.Sprint(err), c.says)
			}
		}
	})
}
