package pool

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// MaxInnermost is the maximum of each window of a batch whose channels lie innermost, as
// torch has it of memory_format=torch.channels_last: y = max of x. Padding, equal maxima and
// NaN are those of Max; places are left out.
//
// Shapes: x (images, h, w, channels), y (images, oh, ow, channels), with oh and ow of Max.
// Types: float32. Error: none, every bit counts.
// Cost:   4 bytes per element of x and y: memory bound.
// Source: ours.
var MaxInnermost = must(WithMaxInnermost(usual))

// WithMaxInnermost is MaxInnermost with options; those that cannot be are an error.
func WithMaxInnermost(o Options) (*ladder.Operator, error) {
	p, err := WithMax(o)
	if err != nil {
		return nil, err
	}
	p.Name, p.Module, p.Formula = "maxpool_nhwc", "nhwc", "y = max of each window of x, channels innermost"
	p.Dims, p.Valid = []string{"images", "h", "w", "channels"}, o.validInnermost
	p.Inputs = func(s ladder.Size) []ladder.Tensor {
		return []ladder.Tensor{{Name: "x", Len: s[0] * s[1] * s[2] * s[3]}}
	}
	p.Outputs = func(s ladder.Size) []ladder.Tensor { return []ladder.Tensor{{Name: "y", Len: o.outputs(s) * s[3]}} }
	p.Reference, p.Cases = o.maximaInnermost, nil
	for _, c := range innermostCases {
		if o.validInnermost(c.Size) == nil {
			p.Cases = append(p.Cases, c)
		}
	}
	p.Remake = func(v []float64) (*ladder.Operator, error) {
		return WithMaxInnermost(Options{int(v[0]), int(v[1]), int(v[2]), o.CountPadding})
	}
	p.Variants = []ladder.Variant{
		{Name: "maxpool_nhwc_element", Adds: "one thread per output; neighbouring lanes have neighbouring channels", Source: "ours", Plan: o.planInnermost(1, 1)},
		{Name: "maxpool_nhwc_vectors", Adds: "four channels per thread: loads and stores of 16 bytes", Source: "ours", Plan: o.planInnermost(1, 4)},
		{Name: "maxpool_nhwc_rows", Adds: "two outputs below each other of four channels per thread: 15 pixels for two outputs", Source: "ours", Plan: o.planInnermost(2, 4)},
	}
	return p, nil
}

// innermostCases bracket vectors of channels and pairs of rows: odd rows and columns,
// one pixel, and views that start anywhere.
var innermostCases = []ladder.Case{
	{Size: ladder.Size{0, 5, 5, 4}}, {Size: ladder.Size{1, 5, 5, 0}}, {Size: ladder.Size{1, 1, 1, 1}}, {Size: ladder.Size{300, 1, 1, 4}, Data: "special"},
	{Size: ladder.Size{2, 8, 8, 4}}, {Size: ladder.Size{2, 7, 9, 8}, Data: "special"}, {Size: ladder.Size{1, 9, 7, 12}, Data: "few distinct"}, {Size: ladder.Size{3, 5, 6, 3}, Data: "special"},
	{Size: ladder.Size{1, 1, 30, 16}}, {Size: ladder.Size{1, 30, 1, 16}}, {Size: ladder.Size{2, 11, 13, 20}, Data: "minus infinity"}, {Size: ladder.Size{1, 6, 6, 68}, Data: "all equal"},
	{Size: ladder.Size{2, 8, 9, 8}, Start: 1}, {Size: ladder.Size{2, 112, 112, 64}, Long: true},
}

// planar is a size of Max with as many outputs.
func planar(s ladder.Size) ladder.Size { return ladder.Size{s[0] * max(1, s[3]), s[1], s[2]} }

func (o Options) validInnermost(s ladder.Size) error {
	if s[3] > 0 && s[0] > most/s[3] {
		return fmt.Errorf("ops: maxpool_nhwc: images * channels = %d * %d: %w, expected at most %d elements in all: split the images", s[0], s[3], gpu.ErrArgument, most)
	}
	return o.valid(planar(s))
}

// maximaInnermost are the values of maxima: each channel of an image is a plane.
func (o Options) maximaInnermost(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x, channels := inputs[0].([]float32), s[3]
	y := make([]float32, o.outputs(s)*channels)
	for channel := range channels {
		seen := make([]bool, o.outputs(s))
		o.windows(stop, s, func(output, element int) {
			v, best := x[element*channels+channel], &y[output*channels+channel]
			if !seen[output] || v > *best || math.IsNaN(float64(v)) && !math.IsNaN(float64(*best)) {
				*best, seen[output] = v, true
			}
		})
	}
	return []ladder.Expected{{Exact: y}}
}

// images is Images of nhwc.cu.
type images struct {
	Images, H, W, Channels, OH, OW, Window, Stride uint32
	Padding                                        int32
}

// planInnermost launches a thread for so many outputs below each other of so many channels.
func (o Options) planInnermost(down, channels int) ladder.Planner {
	return func(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
		oh, ow := o.places(s[1]), o.places(s[2])
		n := s[0] * ladder.CeilDiv(oh, down) * ow * ladder.CeilDiv(s[3], channels)
		if n == 0 {
			return ladder.Plan{}
		}
		p := images{uint32(s[0]), uint32(s[1]), uint32(s[2]), uint32(s[3]), uint32(oh), uint32(ow), uint32(o.Window), uint32(o.Stride), int32(o.Padding)}
		return ladder.Plan{Depth: o.Window*o.Window + 2, Steps: []ladder.Step{{
			Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(n, threads)}, Block: gpu.Dim{X: threads}, Args: []any{"x", "y", p},
		}}}
	}
}

// MaxPoolInnermost computes the maximum of each window of images whose channels lie innermost,
// on buffers of the caller's: x (images, h, w, channels), y (images, oh, ow, channels), which
// overlap nowhere.
//
// Types: float32. Error: none.
func MaxPoolInnermost(h ladder.Runner, options Options, size ladder.Size, x, y gpu.Buffer) error {
	o, err := WithMaxInnermost(options)
	if err != nil {
		return err
	}
	return ladder.Call(h, o, size, map[string]gpu.Buffer{"x": x, "y": y})
}
