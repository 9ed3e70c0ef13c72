// Package conv1d slides a mask along a vector: the listing of note 001, mended, and rungs
// of our own. Correlate and Convolve run it on buffers. Package ops lists the operators. It
// must never import ops/bench.
package conv1d

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 conv1d.cu mistakes.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 conv1d_sixteen.cu conv1d_toeplitz.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90 -release 12.0 conv1d_strips.cu

// Operator correlates a vector with a mask, as note 001 does under the name convolution:
// y[i] = sum over j < k of mask[j] x[i + j - k/2], i < n. Elements before and behind x add
// nothing.
//
// Shapes: x (n), mask (k), y (n); any k, odd or even, also beyond n. Types: float32,
// reference float64. Error: |y - ref| <= bound(k + 1) * sum |mask| |x|, see Bound; of the
// rungs conv1d_toeplitz (bound(k + 20) + 3 * 2^-22) * sum |mask| |x|.
// Cost:   2 n k flops, 8 n + 4 k bytes: bound by memory up to about 50 taps.
// Source: founding note 001.
var Operator = must(With(Options{Stride: 1, Dilation: 1, Before: Same, After: Same}))

// Convolution is Operator with the mask from its end: y[i] = sum over j < k of
// mask[k-1-j] x[i + j - k/2]. A symmetric mask gives the same.
var Convolution = must(With(Options{Stride: 1, Dilation: 1, Before: Same, After: Same, Flip: true}))

// Same pads so that there are as many outputs as elements at stride 1: dilation * (k/2)
// before x and the rest behind it. An even mask has one element more before than behind.
const Same = -1

// Options are the parameters of a call besides its size.
type Options struct {
	Stride, Dilation int // from an output to the next, and from a tap to the next, in elements of x
	Before, After    int // elements that count as 0 before and behind x, or Same
	Flip             bool
}

// spread is the distance from the first tap to the last.
func (o Options) spread(k int) int { return o.Dilation * (k - 1) }

// padding are the elements before and after x.
func (o Options) padding(k int) (before, after int) {
	before, after = o.Before, o.After
	if before == Same {
		before = o.Dilation * (k / 2)
	}
	if after == Same {
		after = o.spread(k) - o.Dilation*(k/2)
	}
	return before, after
}

// Len is the number of outputs: (n + before + after - dilation (k - 1) - 1) / stride + 1,
// rounded down. Options that cannot be are an error, and so is a size without outputs, which
// shows the formula.
func (o Options) Len(n, k int) (int, error) {
	if err := o.check(); err != nil {
		return 0, err
	}
	if n < 1 || k < 1 {
		return 0, fmt.Errorf("ops: %s: %d elements and %d taps: %w, expected at least one of each", o.name(), n, k, gpu.ErrArgument)
	}
	if n > most || k > most { // before sums of them, which may overflow
		return 0, fmt.Errorf("ops: %s: %d elements and %d taps: %w, expected at most %d of each: split x", o.name(), n, k, gpu.ErrArgument, most)
	}
	before, after := o.padding(k)
	room := n + before + after - o.spread(k) - 1
	if room < 0 {
		return 0, fmt.Errorf("ops: %s: outputs (%d + %d + %d - %d * (%d - 1) - 1) / %d + 1 = %d of %d elements, %d taps, paddings %d and %d: %w, expected at least 1: pad more, or take fewer taps",
			o.name(), n, before, after, o.Dilation, k, o.Stride, -((-room+o.Stride-1)/o.Stride)+1, n, k, before, after, gpu.ErrArgument)
	}
	if n+before+after > most || o.spread(k) > most {
		return 0, fmt.Errorf("ops: %s: %d elements with paddings %d and %d, and taps over %d: %w, expected at most %d: split x", o.name(), n, before, after, o.spread(k)+1, gpu.ErrArgument, most)
	}
	return room/o.Stride + 1, nil
}

// most keeps positions, with those of a block behind the last, within an int of the device.
const most = math.MaxInt32 - 1<<20

// name is that of the operator.
func (o Options) name() string {
	if o.Flip {
		return "convolution1d"
	}
	return "conv1d"
}

// check refuses options that cannot be.
func (o Options) check() error {
	for _, p := range []struct {
		name         string
		value, least int
	}{{"stride", o.Stride, 1}, {"dilation", o.Dilation, 1}, {"before", o.Before, Same}, {"after", o.After, Same}} {
		if p.value < p.least || p.value > 1<<24 {
			return fmt.Errorf("ops: %s: %s = %d: %w, expected %d to %d", o.name(), p.name, p.value, gpu.ErrArgument, p.least, 1<<24)
		}
	}
	return nil
}

// With is the operator of options; those that cannot be are an error.
func With(o Options) (*ladder.Operator, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &ladder.Operator{
		Name: o.name(), Module: "conv1d", Folder: folder, Files: files, Peers: []string{"conv1d.py"},
		Formula: "y[i] = sum mask[j] x[i stride + j dilation - before]",
		Source:  "founding note 001",
		Dims:    []string{"n", "k"}, MaxDim: 1 << 30,
		Valid: func(s ladder.Size) error { _, err := o.Len(s[0], s[1]); return err },
		Inputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "x", Len: s[0]}, {Name: "mask", Len: s[1]}}
		},
		Outputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "y", Len: o.outputs(s), Judge: ladder.SumOfProducts}}
		},
		Reference: o.reference,
		Data:      dataSets,
		Cases:     o.cases(),
		Parameters: []ladder.Parameter{
			{Name: "stride", Value: float64(o.Stride), Default: 1, Whole: true}, {Name: "dilation", Value: float64(o.Dilation), Default: 1, Whole: true},
			{Name: "before", Value: float64(o.Before), Default: Same, Whole: true}, {Name: "after", Value: float64(o.After), Default: Same, Whole: true},
		},
		Remake: func(v []float64) (*ladder.Operator, error) {
			return With(Options{int(v[0]), int(v[1]), int(v[2]), int(v[3]), o.Flip})
		},
		Work:     o.work,
		Variants: o.variants(),
	}
	if o.Flip {
		c.Formula = "y[i] = sum mask[k-1-j] x[i stride + j dilation - before]"
	}
	return c, nil
}

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

// outputs is Len of a size that is valid, and 0 of another.
func (o Options) outputs(s ladder.Size) int {
	n, err := o.Len(s[0], s[1])
	if err != nil {
		return 0
	}
	return n
}

// balance is the number of taps from which the multiplications take longer than memory,
// at 60 TFLOP/s and 4.4 TB/s.
const balance = 54

func (o Options) work(s ladder.Size) ladder.Work {
	out := float64(o.outputs(s))
	w := ladder.Work{Bytes: 4 * (float64(s[0]) + float64(s[1]) + out), Operations: 2 * out * float64(s[1])}
	if s[1] > balance {
		w.Roof = ladder.Arithmetic
	}
	return w
}

// Mistakes is Operator with the listing of note 001 as it stands, and with its mask the
// wrong way round.
var Mistakes = mistakesOf(Operator)

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, Convolution, Mistakes}
}
