// Package conv2d convolves images and volumes as networks do: direct, tiled, as a product
// of matrices, by Winograd's algorithm, and on tensor cores. The founding notes have no
// listing of it: the rungs are ours. Convolve runs them on buffers. Package ops lists the
// operators. It must never import ops/bench.
package conv2d

import (
	"fmt"
	"math"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

//go:generate go run ../../gpu/nvrtc -arch sm_75 -release 12.0 conv2d.cu winograd.cu
//go:generate go run ../../gpu/nvrtc -arch sm_80 -release 12.0 conv2d_tensor.cu conv3d_registers.cu
//go:generate go run ../../gpu/nvrtc -arch sm_90a -release 12.0 conv2d_hopper.cu conv2d_split.cu conv2d_resident.cu conv2d_wide.cu conv2d_halves.cu conv3d_hopper.cu winograd_fused.cu

// Options are the parameters of a call besides its size.
type Options struct {
	Stride, Padding, Dilation int // in rows and in columns, and in depth where there is one
	Groups                    int // channels of x and of y are divided into so many parts, which do not meet
	Bias, ReLU                bool
	NHWC                      bool     // channels innermost, in x and y; w is then KRSC
	Depth                     bool     // three dimensions: volumes of depth d, filters of depth t
	Type                      gpu.Type // of x, w, bias and y; 0 is Float32
}

// usual keeps the size of an image under filters of 3 x 3.
var usual = Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1}

// Operator is a layer of a network: y[n][k][i][j] = sum over c, r, s of w[k][c][r][s]
// x[n][c][i stride + r dilation - padding][j stride + s dilation - padding]. It is a
// correlation, which networks call a convolution. Elements outside x add nothing.
//
// Shapes: x (n, c, h, w), w (k, c / groups, r, s), y (n, k, oh, ow) with oh = (h + 2 padding
// - dilation (r - 1) - 1) / stride + 1, rounded down, and ow in the same way; row-major.
// Types: float32, reference float64. Error: |y - ref| <= bound(c r s / groups + 3) * sum |w| |x|,
// see Bound; of conv2d_bf16x3 bound(r s ceil(c / 64) + min(c, 64) + 19) and 2^-24, where all
// of x and w are 0 or at least 2^-110: of less, 2^-134 is lost besides. Of conv2d_fp16x3
// bound((r + 1 + r s / 12) ceil(c / 64) + s min(c, 64) + 19), with c and r s / 12 rounded up
// to a multiple of 16 and to 1, and 2^-21, but where an element is less than 2^-16 of the
// largest of its tensor: of that, 2^-39 is lost besides. Where filters of at most 64 channels of
// y fit into shared memory, it is bound(11 r s ceil(min(c, 32) / 16) + 2 ceil(c / 32) + 20)
// with the same terms.
// Cost: 2 n k oh ow c r s / groups flops: bound by arithmetic.
// Source: ours.
var Operator = must(With("conv2d", usual))

// NHWC is Operator with channels innermost: x (n, h, w, c), w (k, r, s, c / groups), y (n,
// oh, ow, k).
var NHWC = must(With("conv2d_nhwc", with(func(o *Options) { o.NHWC = true })))

// BiasReLU is Operator with a bias for each channel of y, and max(0, y) of the sum.
var BiasReLU = must(With("conv2d_bias_relu", with(func(o *Options) { o.Bias, o.ReLU = true, true })))

// Volumes is Operator in three dimensions: x (n, c, d, h, w), w (k, c / groups, t, r, s), y
// (n, k, od, oh, ow). In conv3d_bf16x3_depths a NaN or an infinity of x spreads to the other
// depths of its product; the error of both rungs in parts is that of conv2d_bf16x3 with t r s,
// and that of conv3d_fp16x2 is 3 * 2^-22 * sum |w| |x| more than that of a direct sum.
var Volumes = must(With("conv3d", with(func(o *Options) { o.Depth = true })))

// FP16 is NHWC of float16 on tensor cores, with bias and ReLU; sums are float32.
//
// Error: |y - ref| <= (bound(c r s / groups + 19) + 2^-11) * (sum |w| |x| + |bias|).
var FP16 = must(With("conv2d_fp16", tensorOptions(gpu.Float16)))

// BF16 is FP16 of bfloat16, with 2^-8 in place of 2^-11.
var BF16 = must(With("conv2d_bf16", tensorOptions(gpu.BFloat16)))

// TF32 is NHWC of float32 on tensor cores, which take 11 bits of each factor: 2^-10 in place
// of 2^-11.
var TF32 = mustTF32("conv2d_tf32", tensorOptions(0))

// VolumesFP16 is FP16 of volumes, with channels innermost: x (n, d, h, w, c), w (k, t, r, s, c
// / groups), y (n, od, oh, ow, k). In the rung _depths a NaN or an infinity of x spreads to
// the other depths of its product.
var VolumesFP16 = must(With("conv3d_fp16", deep(tensorOptions(gpu.Float16))))

// VolumesBF16 is VolumesFP16 of bfloat16.
var VolumesBF16 = must(With("conv3d_bf16", deep(tensorOptions(gpu.BFloat16))))

// VolumesTF32 is VolumesFP16 of float32, as TF32 is FP16 of it.
var VolumesTF32 = mustTF32("conv3d_tf32", deep(tensorOptions(0)))

func with(change func(*Options)) Options {
	o := usual
	change(&o)
	return o
}

func tensorOptions(t gpu.Type) Options {
	return with(func(o *Options) { o.NHWC, o.Bias, o.ReLU, o.Type = true, true, true, t })
}

func deep(o Options) Options {
	o.Depth = true
	return o
}

func mustTF32(name string, o Options) *ladder.Operator { return o.tensor(name, must(With(name, o))) }

func must(o *ladder.Operator, err error) *ladder.Operator {
	if err != nil {
		panic(err)
	}
	return o
}

// With is the operator of options under a name; options that cannot be are an error.
func With(name string, o Options) (*ladder.Operator, error) {
	for _, p := range []struct {
		name         string
		value, least int
	}{{"stride", o.Stride, 1}, {"padding", o.Padding, 0}, {"dilation", o.Dilation, 1}, {"groups", o.Groups, 1}} {
		if p.value < p.least || p.value > most {
			return nil, fmt.Errorf("ops: %s: %s = %d: %w, expected %d to %d", name, p.name, p.value, gpu.ErrArgument, p.least, most)
		}
	}
	c := &ladder.Operator{
		Name: name, Module: "conv2d", Folder: folder, Files: files, Peers: []string{"conv2d.py"},
		Formula: "y[n][k] = sum w[k][c] * x[n][c]",
		Source:  "ours",
		Dims:    []string{"n", "c", "h", "w", "k", "r", "s"}, MaxDim: math.MaxInt32,
		Valid:  func(s ladder.Size) error { return o.valid(name, s) },
		Inputs: o.inputs,
		Outputs: func(s ladder.Size) []ladder.Tensor {
			return []ladder.Tensor{{Name: "y", Len: o.of(s).elementsOfY(), Type: o.Type, Judge: ladder.SumOfProducts}}
		},
		Reference: o.reference,
		Data:      dataSets,
		Cases:     o.cases(),
		Parameters: []ladder.Parameter{
			{Name: "stride", Value: float64(o.Stride), Default: 1, Whole: true}, {Name: "padding", Value: float64(o.Padding), Default: 1, Whole: true},
			{Name: "dilation", Value: float64(o.Dilation), Default: 1, Whole: true}, {Name: "groups", Value: float64(o.Groups), Default: 1, Whole: true},
		},
		Work:     o.work,
		Variants: o.variants(),
	}
	c.Remake = func(v []float64) (*ladder.Operator, error) {
		other := o
		other.Stride, other.Padding, other.Dilation, other.Groups = int(v[0]), int(v[1]), int(v[2]), int(v[3])
		again, err := With(name, other)
		if err != nil || !slices.ContainsFunc(c.Variants, func(v ladder.Variant) bool { return v.Name == name+"_mma" }) {
			return again, err
		}
		return other.tensor(name, again), nil
	}
	if o.Depth {
		c.Dims = []string{"n", "c", "d", "h", "w", "k", "t", "r", "s"}
	}
	if o.Type == gpu.Float16 || o.Type == gpu.BFloat16 {
		c = o.tensor(name, c)
	}
	return c, nil
}

// tensor is an operator with the rungs of tensor cores.
func (o Options) tensor(name string, c *ladder.Operator) *ladder.Operator {
	c.Variants = o.tensorVariants(name)
	cases := hopperCases
	if o.Depth {
		cases = deepCases
	}
	for _, more := range cases {
		if o.valid(name, more.Size) == nil && (more.Data == "" || o.Type == 0) {
			c.Cases = append(c.Cases, more)
		}
	}
	return c
}

// most keeps positions, with those behind a last block, within an int of the device.
const most = math.MaxInt32 - 1<<24

// dims are the sizes of a call by name; c and k are those of all groups. Images have depths
// of 1.
type dims struct{ n, c, d, h, w, k, t, r, s, od, oh, ow int }

// of names the numbers of a size and computes those of y, which may be 0 or less.
func (o Options) of(s ladder.Size) (x dims) {
	if o.Depth {
		x = dims{n: s[0], c: s[1], d: s[2], h: s[3], w: s[4], k: s[5], t: s[6], r: s[7], s: s[8]}
	} else {
		x = dims{n: s[0], c: s[1], d: 1, h: s[2], w: s[3], k: s[4], t: 1, r: s[5], s: s[6]}
	}
	x.od, x.oh, x.ow = 1, o.places(x.h, x.r), o.places(x.w, x.s)
	if o.Depth {
		x.od = o.places(x.d, x.t)
	}
	return x
}

// places is the number of outputs along n elements under so many taps: 0 or less where
// there is no room for one.
func (o Options) places(n, taps int) int {
	room := n + 2*o.Padding - o.Dilation*(taps-1) - 1
	if room < 0 {
		return 0
	}
	return room/o.Stride + 1
}

func (x dims) elementsOfX() int { return x.n * x.c * x.d * x.h * x.w }
func (x dims) elementsOfY() int { return x.n * x.k * x.od * x.oh * x.ow }
func (x dims) taps() int        { return x.t * x.r * x.s }

// valid refuses sizes without outputs, groups that do not divide the channels, and tensors
// that an int of the device does not number.
func (o Options) valid(name string, s ladder.Size) error {
	x := o.of(s)
	fail := func(format string, a ...any) error {
		return fmt.Errorf("ops: "+name+": "+format, a...)
	}
	if slices.Min(s) < 1 {
		return fail("a size of %v: %w, expected at least 1 of each", s, gpu.ErrArgument)
	}
	for _, side := range []struct {
		name            string
		n, taps, places int
	}{{"depth", x.d, x.t, x.od}, {"height", x.h, x.r, x.oh}, {"width", x.w, x.s, x.ow}} {
		if side.places < 1 {
			room := side.n + 2*o.Padding - o.Dilation*(side.taps-1) - 1
			return fail("%s of y = (%d + 2 * %d - %d * (%d - 1) - 1) / %d + 1 = %d: %w, expected at least 1: pad more, or take smaller filters",
				side.name, side.n, o.Padding, o.Dilation, side.taps, o.Stride, -((-room+o.Stride-1)/o.Stride)+1, gpu.ErrArgument)
		}
	}
	if x.c%o.Groups != 0 || x.k%o.Groups != 0 {
		return fail("%d groups of %d channels of x and %d of y: %w, expected groups that divide both", o.Groups, x.c, x.k, gpu.ErrArgument)
	}
	for _, t := range []struct {
		name string
		of   []int
	}{{"x", []int{x.n, x.c, x.d, x.h, x.w}}, {"w", []int{x.k, x.c / o.Groups, x.t, x.r, x.s}}, {"y", []int{x.n, x.k, x.od, x.oh, x.ow}}} {
		all := 1
		for _, n := range t.of {
			if all > most/n {
				return fail("%s of %v: %w, expected at most %d elements: split the images", t.name, t.of, gpu.ErrArgument, most)
			}
			all *= n
		}
	}
	if x.k/o.Groups > 65535*tile || o.Groups > 65535 {
		return fail("%d channels of y in %d groups: %w, expected at most %d in a group and 65535 groups", x.k, o.Groups, gpu.ErrArgument, 65535*tile)
	}
	return nil
}

func (o Options) inputs(s ladder.Size) []ladder.Tensor {
	x := o.of(s)
	all := []ladder.Tensor{{Name: "x", Len: x.elementsOfX(), Type: o.Type}, {Name: "w", Len: x.k * (x.c / o.Groups) * x.taps(), Type: o.Type}}
	if o.Bias {
		// About the sums of random factors, with a minus: ReLU leaves half of them.
		mean := float64(x.c/o.Groups*x.taps()) / 4
		all = append(all, ladder.Tensor{Name: "bias", Len: x.k, Type: o.Type, Low: -1.2 * mean, High: -0.5 * mean})
	}
	return all
}

func (o Options) work(s ladder.Size) ladder.Work {
	x, w := o.of(s), ladder.Work{Roof: ladder.Arithmetic}
	for _, t := range append(o.inputs(s), ladder.Tensor{Len: x.elementsOfY(), Type: o.Type}) {
		w.Bytes += float64(t.Len * t.Elements().Bytes())
	}
	w.Operations = 2 * float64(x.elementsOfY()) * float64(x.c/o.Groups*x.taps())
	return w
}

// Operators lists the operators of this package.
func Operators() []*ladder.Operator {
	return []*ladder.Operator{Operator, NHWC, BiasReLU, Winograd2, Winograd4, FP16, BF16, TF32, Volumes, VolumesFP16, VolumesBF16, VolumesTF32}
}
