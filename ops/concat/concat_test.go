package concat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
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

// A product and a shift are the quotient, at the ends of each quotient and of the range.
func TestReciprocalOf(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	widths := []int{1, 2, 3, 1023, 1024, 1025, 1<<30 - 1, 1 << 30, 1<<30 + 1, math.MaxInt32 - 1, math.MaxInt32}
	for range 2000 {
		widths = append(widths, 1+r.IntN(1<<(1+r.IntN(31))-1))
	}
	for _, w := range widths {
		factor, shift := reciprocalOf(w)
		last := math.MaxInt32 / w * w
		for _, multiple := range []int{w, last, w * (1 + r.IntN(math.MaxInt32/w))} {
			for _, e := range []int{0, multiple - 1, multiple, math.MaxInt32} {
				if got := uint64(e) * uint64(factor) >> shift; got != uint64(e/w) {
					t.Fatalf("seed %d: %d / %d by %d and %d is %d, expected %d", seed, e, w, factor, shift, got, e/w)
				}
			}
		}
	}
}

// The launches of large sizes write y in order and completely, each fewer than 2^31
// elements, from where each part's rows begin.
func TestInLaunches(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	sizes := []ladder.Size{
		{1, 1 << 30, 1 << 30}, {3, math.MaxInt32, math.MaxInt32}, {5, math.MaxInt32, 0}, {5, 0, math.MaxInt32}, {1 << 17, 1 << 16, 1 << 16},
		{math.MaxInt32, 1, 1}, {math.MaxInt32, 3, 4}, {15, 1 << 30, 1}, {7, math.MaxInt32, 1}, {16_777_216, 1001, 23},
	}
	for range 100 {
		w := 1 + r.IntN(1<<(1+r.IntN(32))-1)
		a := r.IntN(min(w, math.MaxInt32) + 1)
		sizes = append(sizes, ladder.Size{1 + r.IntN(min(most/w, math.MaxInt32)), a, min(w-a, math.MaxInt32)})
	}
	for _, s := range sizes {
		if width(s) == 0 {
			continue
		}
		threads := []int{128, 256}[r.IntN(2)]
		var next uint64
		for _, step := range inLaunches("concat_reciprocal", s, threads, math.MaxInt32).Steps {
			wa, wb, rows := step.Args[3].(uint32), step.Args[4].(uint32), step.Args[5].(uint32)
			a, b, y := step.Args[8].(uint64), step.Args[9].(uint64), step.Args[10].(uint64)
			n, w := uint64(rows)*(uint64(wa)+uint64(wb)), uint64(width(s))
			if n == 0 || n > math.MaxInt32 || y != next || a != y/w*uint64(s[1]) || b != y/w*uint64(s[2]) || step.Block.X != threads || uint64(step.Grid.X)*uint64(4*threads) < n+3 {
				t.Fatalf("seed %d, size %v: %d rows of %d and %d from %d, %d and %d on, in %d blocks of %d, expected to go on at %d", seed, s, rows, wa, wb, a, b, y, step.Grid.X, step.Block.X, next)
			}
			next += n
		}
		if next != uint64(s[0])*uint64(width(s)) {
			t.Fatalf("seed %d, size %v: %d elements, expected %d", seed, s, next, s[0]*width(s))
		}
	}
}

// The suite's cases in launches of a few rows, and of a part of a row.
func TestManyLaunches(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for _, c := range cases {
			if c.Long {
				continue
			}
			n := c.Size[0] * width(c.Size)
			for _, limit := range []int{max(c.Size[1], c.Size[2]), width(c.Size), 5 * width(c.Size)} {
				limit = max(limit, n/20) // the emulator takes its time for a launch
				o := *Operator
				o.Variants = nil
				for _, v := range variants {
					threads := map[string]int{"concat_reciprocal": 128, "concat_evict_last": 256}[v.Name]
					if threads > 0 {
						v.Plan = func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan { return inLaunches(entry, s, threads, limit) }
						o.Variants = append(o.Variants, v)
					}
				}
				b := optest.NewBench(t, d, &o, rand.Uint64(), c.Size...)
				for _, name := range []string{"x0", "x1", "y"} {
					if c.Start > 0 {
						if err := b.Place(name, c.Start); err != nil {
							t.Fatal(err)
						}
					}
				}
				optest.CheckAll(t, b, fmt.Sprintf("launches of at most %d, from element %d on", limit, c.Start))
			}
		}
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
	h := run.NewHandle(d)
	defer h.Close()
	h.Variant = rung
	err := Along(h, dim, parts, y)
	needs := map[string]gpu.Compute{"concat_bulk": {Major: 9}, "concat_evict_last": {Major: 8}}[rung]
	if errors.Is(err, gpu.ErrUnsupported) && ladder.Older(d.Info().Compute, needs) {
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
		h := run.NewHandle(d)
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
