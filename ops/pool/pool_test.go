package pool

import (
	"errors"
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

func TestConformance(t *testing.T)          { optest.Run(t, Max) }
func TestConformanceAvg(t *testing.T)       { optest.Run(t, Avg) }
func TestConformanceMistakes(t *testing.T)  { optest.Run(t, Mistakes) }
func TestConformanceInnermost(t *testing.T) { optest.Run(t, MaxInnermost) }

// The mistakes pass on positive numbers without NaN, as notes.md and notebook 07 say: only
// other data find them.
func TestMistakesOnPositiveNumbers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	o := *Mistakes
	o.Data = []ladder.DataSet{floats("positive", "uniform in [1, 2)", func(_ int, random *rand.Rand) float32 { return 1 + random.Float32() })}
	o.Variants = slices.Clone(o.Variants)
	for i := range o.Variants {
		o.Variants[i].Expect = nil
	}
	d := optest.Emulator(t)
	for _, c := range o.Cases {
		optest.CheckAll(t, optest.NewBench(t, d, &o, seed, c.Size...), "positive numbers")
	}
}

// Windows, strides and paddings that are no default, on every rung that takes them.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Window: 2, Stride: 2},
		{Window: 1, Stride: 1},
		{Window: 4, Stride: 1, Padding: 3},
		{Window: 2, Stride: 5, Padding: 1, CountPadding: true},
		{Window: 13, Stride: 7, Padding: 6}, // a tile beyond shared memory
	} {
		for _, with := range []func(Options) (*ladder.Operator, error){WithMax, WithAvg, WithMaxInnermost} {
			op := must(with(o))
			devicetest.Each(t, func(t *testing.T, d gpu.Device) {
				for _, c := range optest.Some(t, d, 3, op.Cases) {
					if c.Long {
						continue
					}
					b := optest.NewBench(t, d, op, 1, c.Size...)
					if err := b.UseData(c.Data); err != nil {
						t.Fatal(err)
					}
					optest.CheckAll(t, b, c.Data)
				}
			})
		}
	}
}

// Answers worked by hand: padding, ties, the first NaN, rows of -inf, and both divisors.
func TestReference(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	o := Options{Window: 2, Stride: 2, Padding: 1}
	size := ladder.Size{1, 3, 3}
	x := []float32{
		-1, -2, -2,
		-inf, nan, 5,
		-inf, nan, 5,
	}
	got := o.maxima(nil, size, []ladder.Values{x})
	if !ladder.SameBits(got[0].Exact, []float32{-1, -2, -inf, nan}) || !ladder.SameBits(got[1].Exact, []int32{0, 1, 3, 4}) {
		t.Errorf("maxima %v, places %v", got[0].Exact, got[1].Exact)
	}
	x = []float32{1, -2, 3, 4, 5, 6, 7, 8, 9}
	for counted, want := range map[bool][]float64{false: {1, 0.5, 5.5, 7}, true: {0.25, 0.25, 2.75, 7}} {
		o.CountPadding = counted
		if got := o.means(nil, size, []ladder.Values{x})[0]; !ladder.SameBits(got.Value, want) || counted && got.Magnitude[1] != 1.25 {
			t.Errorf("means %v, magnitudes %v, expected %v", got.Value, got.Magnitude, want)
		}
	}
}

// Options and planes that cannot be are refused in one line, with the shape.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		size ladder.Size
		says string
	}{
		{Options{Window: 0, Stride: 1}, nil, "window = 0"},
		{Options{Window: 2, Stride: 0}, nil, "stride = 0"},
		{Options{Window: 2, Stride: 1, Padding: 2}, nil, "padding = 2"},
		{Options{Window: 2, Stride: 1, Padding: -1}, nil, "padding = -1"},
		{Options{Window: 5, Stride: 2, Padding: 1}, ladder.Size{1, 2, 9}, "h of y = (2 + 2 * 1 - 5) / 2 + 1 = 0 for"},
		{Options{Window: 5, Stride: 2, Padding: 1}, ladder.Size{1, 9, 1}, "w of y = (1 + 2 * 1 - 5) / 2 + 1"},
		{Options{Window: 5, Stride: 1, Padding: 4}, ladder.Size{1, 0, 9}, "h = 0"},
		{Options{Window: 1, Stride: 1}, ladder.Size{1 << 20, 64, 64}, "split the planes"},
	} {
		for _, with := range []func(Options) (*ladder.Operator, error){WithMax, WithAvg} {
			o, err := with(c.o)
			if err == nil {
				err = o.CheckSize(c.size)
			}
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v of %v: %v, expected one line with %q", c.o, c.size, err, c.says)
			}
		}
	}
}

// MaxPool and AvgPool with their refusals, on buffers of the caller's.
func TestCalls(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer h.Close()
		alloc := func(kind gpu.Type, n int, values any) gpu.Buffer {
			b, err := d.Alloc(kind, n)
			if err == nil {
				t.Cleanup(func() { b.Free() })
				err = b.Upload(values)
			}
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		x := alloc(gpu.Float32, 9, []float32{1, -2, 3, 4, 5, 6, 7, 8, 9})
		y, index := alloc(gpu.Float32, 4, make([]float32, 4)), alloc(gpu.Int32, 4, make([]int32, 4))
		o, size := Options{Window: 2, Stride: 2, Padding: 1}, ladder.Size{1, 3, 3}
		got, at := make([]float32, 4), make([]int32, 4)
		err := errors.Join(MaxPool(h, o, size, x, y, index), y.Download(got), index.Download(at))
		if err != nil || !ladder.SameBits(got, []float32{1, 3, 7, 9}) || !ladder.SameBits(at, []int32{0, 2, 6, 8}) {
			t.Errorf("maxima %v at %v, %v", got, at, err)
		}
		if err := errors.Join(AvgPool(h, o, size, x, y), y.Download(got)); err != nil || !ladder.SameBits(got, []float32{1, 0.5, 5.5, 7}) {
			t.Errorf("means %v, %v", got, err)
		}
		if chosen := (&preferring{Runner: h}); AvgPool(chosen, o, size, x, y) != nil || !slices.Equal(chosen.names, []string{"avgpool_vectors"}) {
			t.Errorf("means by %v, expected the rung that is the fastest on an H200", chosen.names)
		}
		if err := errors.Join(MaxPoolInnermost(h, o, ladder.Size{1, 3, 3, 1}, x, y), y.Download(got)); err != nil || !ladder.SameBits(got, []float32{1, 3, 7, 9}) {
			t.Errorf("maxima of innermost channels %v, %v", got, err)
		}
		for says, err := range map[string]error{
			"expected 4 for planes = 1, h = 3, w = 3": MaxPool(h, o, size, x, x, index),
			"no buffer": MaxPool(h, o, size, x, y, nil),
			"int32":     AvgPool(h, o, size, x, index),
			"expected 9 for planes = 1, h = 3, w = 3": AvgPool(h, o, size, y, y),
			"images * channels":                       MaxPoolInnermost(h, o, ladder.Size{1 << 20, 1, 1, 1 << 20}, x, y),
			"window = 0":                              AvgPool(h, Options{}, size, x, y),
			"size of 1 numbers":                       MaxPool(h, o, ladder.Size{3}, x, y, index),
		} {
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, expected one line with %q", err, says)
			}
		}
	})
}

// Channels innermost or outermost, the maxima are the same: the reference of one is compared
// with that of the other on data of each kind.
func TestInnermostReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	size := ladder.Size{2, 5, 6, 3}
	images, pixels, channels := size[0], size[1]*size[2], size[3]
	for _, d := range maxData {
		x := d.Make(nil, MaxInnermost.Inputs(size), random)[0].([]float32)
		planes := make([]float32, len(x))
		for i := range x {
			planes[(i/channels/pixels*channels+i%channels)*pixels+i/channels%pixels] = x[i]
		}
		got := usual.maximaInnermost(nil, size, []ladder.Values{x})[0].Exact.([]float32)
		want := usual.maxima(nil, ladder.Size{images * channels, size[1], size[2]}, []ladder.Values{planes})[0].Exact.([]float32)
		outputs := len(want) / images / channels
		moved := make([]float32, len(want))
		for i := range moved {
			moved[i] = want[(i/channels/outputs*channels+i%channels)*outputs+i/channels%outputs]
		}
		if !ladder.SameBits(got, moved) {
			t.Errorf("%s: %v, expected %v", d.Name, got, moved)
		}
	}
}

// preferring notes which rungs a call prefers.
type preferring struct {
	ladder.Runner
	names []string
}

func (p *preferring) Launch(o *ladder.Operator, size ladder.Size, memory map[string]gpu.Buffer, preferred ...string) error {
	p.names = preferred
	return p.Runner.Launch(o, size, memory, preferred...)
}
