// Package pool reduces windows of planes to their maxima, with places, or means. The
// founding notes have no listing of it: the rungs are ours. MaxPool, MaxPoolInnermost and
// AvgPool run them on buffers. Package ops lists the operators. It must never import ops/bench.
package pool

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 pool.cu mistakes.cu nhwc.cu

// Options are the parameters of a call besides its size.
type Options struct {
	Window, Stride, Padding int // in rows and in columns; Padding is below Window

	// CountPadding divides a mean at an edge by window^2, as torch does, and not by the
	// number of elements that the window has of the plane.
	CountPadding bool
}

// usual are windows of 3 x 3 in steps of 2, padded by 1.
var usual = Options{Window: 3, Stride: 2, Padding: 1, CountPadding: true}

// Max is the maximum of each window and its place: y = max of x, index = row * w + column in
// the plane.
//
// Padding counts as -inf and is never the place. Of equal maxima the first counts, in the
// order of memory, so -0 stays if it comes before 0. A window with NaN gives NaN, and the
// place of its first. (torch gives the place of the last NaN.)
//
// Shapes: x (planes, h, w), y and index (planes, oh, ow) with oh = (h + 2 padding -
// window) / stride + 1, rounded down, and ow in the same way; planes are images times
// channels in NCHW. Types: float32, index int32. Error: none, every bit counts.
// Cost:   4 bytes per element of x, 8 of y and index: memory bound.
// Source: ours.
var Max = must(WithMax(usual))

// Avg is the mean of each window, in which padding counts as 0.
//
// Shapes: as of Max, without index. Types: float32, reference float64. Error: |y - ref| <=
// bound(window^2 + 2) * mean |x|, see Bound. Cost: 4 bytes per element of x and y: memory
// bound. Source: ours.
var Avg = must(WithAvg(usual))

// WithMax is Max with options; those that cannot be are an error.
func WithMax(o Options) (*ladder.Operator, error) { return with(o, false) }

// WithAvg is Avg with options; those that cannot be are an error.
func WithAvg(o Options) (*ladder.Operator, error) { return with(o, true) }

func with(o Options, average bool) (*ladder.Operator, error) {
	switch {
	case o.Window < 1 || o.Window > mostWindow:
		return nil, fmt.Errorf("ops: pool: window = %d: %w, expected 1 to %d", o.Window, gpu.ErrArgument, mostWindow)
	case o.Stride < 1 || o.Stride > mostWindow:
		return nil, fmt.Errorf("ops: pool: stride = %d: %w, expected 1 to %d", o.Stride, gpu.ErrArgument, mostWindow)
	case o.Padding < 0 || o.Padding >= o.Window:
		return nil, fmt.Errorf("ops: pool: padding = %d: %w, expected 0 to %d, below the window of %d: a window of padding alone has no maximum", o.Padding, gpu.ErrArgument, o.Window-1, o.Window)
	}
	p := &ladder.Operator{
		Name: "maxpool", Module: "pool", Folder: folder, Files: files, Peers: []string{"pool.py"},
		Formula: "y = max of each window of x, index = its place in the plane",
		Source:  "ours",
		Dims:    []string{"planes", "h", "w"}, MaxDim: math.MaxInt32, Valid: o.valid,
		Inputs:    func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "x", Len: s[0] * s[1] * s[2]}} },
		Reference: o.maxima,
		Data:      maxData,
		Cases:     o.cases(maxCases),
		Parameters: []ladder.Parameter{
			{Name: "window", Value: float64(o.Window), Default: 3, Whole: true}, {Name: "stride", Value: float64(o.Stride), Default: 2, Whole: true}, {Name: "padding", Value: float64(o.Padding), Default: 1, Whole: true},
		},
		Remake: func(v []float64) (*ladder.Operator, error) {
			return with(Options{int(v[0]), int(v[1]), int(v[2]), o.CountPadding}, average)
		},
		Variants: o.variants(average),
	}
	p.Outputs = func(s ladder.Size) []ladder.Tensor {
		n := o.outputs(s)
		if average {
			return []ladder.Tensor{{Name: "y", Len: n}}
		}
		return []ladder.Tensor{{Name: "y", Len: n}, {Name: "index", Len: n, Type: gpu.Int32}}
	}
	p.Work = func(s ladder.Size) ladder.Work {
		w := ladder.Work{}
		for _, t := range append(p.Inputs(s), p.Outputs(s)...) {
			w.Bytes += 4 * float64(t.Len)
		}
		return w
	}
	if average {
		p.Name, p.Formula = "avgpool", "y = sum of each window of x / window^2"
		p.Reference, p.Data, p.Cases = o.means, avgData, o.cases(avgCases)
		counted := 0.0
		if o.CountPadding {
			counted = 1
		}
		p.Parameters = append(p.Parameters, ladder.Parameter{Name: "count_padding", Value: counted, Default: 1, Whole: true})
		p.Remake = func(v []float64) (*ladder.Operator, error) {
			if v[3] != 0 && v[3] != 1 {
				return nil, fmt.Errorf("ops: avgpool: count_padding = %v: %w, expected 0 or 1", v[3], gpu.ErrArgument)
			}
			return with(Options{int(v[0]), int(v[1]), int(v[2]), v[3] == 1}, average)
		}
	}
	return p, nil
}

// mostWindow keeps positions of a window in range.
const mostWindow = 1 << 12

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

// places is the number of places of the window along n elements, 0 or less where it does
// not fit.
func (o Options) places(n int) int {
	room := n + 2*o.Padding - o.Window
	if room < 0 {
		return -((-room + o.Stride - 1) / o.Stride) + 1 // rounded down
	}
	return room/o.Stride + 1
}

// outputs is the number of places in all planes.
func (o Options) outputs(s ladder.Size) int {
	return s[0] * max(0, o.places(s[1])) * max(0, o.places(s[2]))
}

// valid refuses planes in which the window has no place, and more than 2^31 - 2^24 elements.
func (o Options) valid(s ladder.Size) error {
	for i, name := range []string{"h", "w"} {
		if n := s[1+i]; n < 1 || o.places(n) < 1 {
			return fmt.Errorf("ops: pool: %s of y = (%d + 2 * %d - %d) / %d + 1 = %d for %s = %d: %w, expected at least 1, and planes of 1 x 1 or more: pad more, or take a smaller window",
				name, n, o.Padding, o.Window, o.Stride, o.places(n), name, n, gpu.ErrArgument)
		}
	}
	for _, x := range []ladder.Size{s, {s[0], o.places(s[1]), o.places(s[2])}} {
		if x[1] > most/x[2] || x[0] > most/(x[1]*x[2]) {
			return fmt.Errorf("ops: pool: %d planes of %d x %d: %w, expected at most %d elements in all: split the planes", x[0], x[1], x[2], gpu.ErrArgument, most)
		}
	}
	return nil
}

// most keeps indices within an int of the device.
const most = math.MaxInt32 - 1<<24

// Mistakes is Max with kernels that are right on ordinary data: they fail on negative
// numbers with NaN.
var Mistakes = mistakesOf(Max)

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Max, Avg, Mistakes, MaxInnermost}
}
