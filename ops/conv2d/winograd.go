package conv2d

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Winograd2 is Operator by Winograd's algorithm F(2 x 2, 3 x 3): 16 multiplications a
// channel for 4 outputs, in place of 36.
//
// It takes filters of 3 x 3, stride 1, dilation 1 and one group; other calls are refused. A
// NaN or an infinity spreads to its whole tile. Shapes and types: those of Operator.
// Error: |y - ref| <= bound(c + 48) * |Y| (sum (|W| |w| |W^T|) (|X| |x| |X^T|)) |Y^T| with
// the matrices W, X and Y of the algorithm: a multiple of sum |w| |x| of the whole tile.
// Source: ours, after Lavin and Gray, Fast Algorithms for Convolutional Neural Networks.
var Winograd2 = must(withWinograd(2, usual))

// Winograd4 is Winograd2 with F(4 x 4, 3 x 3): 36 multiplications for 16 outputs, in place of
// 144. Its matrices have entries up to 8, and its error is larger.
var Winograd4 = must(withWinograd(4, usual))

// winogradRoundings are the roundings of the transforms: two passes of at most 6 terms with
// rounded coefficients each, of filters, tiles and sums; bias included.
const winogradRoundings = 48

// matrices are those of F(m x m, 3 x 3): y = Y ((W w W^T) . (X x X^T)) Y^T.
type matrices struct{ w, x, y [][]float64 }

func winogradMatrices(m int) matrices {
	if m == 2 {
		return matrices{
			w: [][]float64{{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}},
			x: [][]float64{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
			y: [][]float64{{1, 1, 1, 0}, {0, 1, -1, -1}},
		}
	}
	return matrices{
		w: [][]float64{{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6}, {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}},
		x: [][]float64{{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}},
		y: [][]float64{{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
	}
}

// sandwich is a b a^T with the values of absolute for each entry of a.
func sandwich(a, b [][]float64, absolute bool) [][]float64 {
	at := func(i, j int) float64 {
		if absolute {
			return math.Abs(a[i][j])
		}
		return a[i][j]
	}
	c := make([][]float64, len(a))
	for i := range c {
		c[i] = make([]float64, len(a))
		for j := range c[i] {
			for k := range b {
				for l := range b {
					c[i][j] += at(i, k) * b[k][l] * at(j, l)
				}
			}
		}
	}
	return c
}

func withWinograd(m int, o Options) (*ladder.Operator, error) {
	name := fmt.Sprintf("conv2d_winograd_%d", m)
	w, err := With(name, o)
	if err != nil {
		return nil, err
	}
	if o.Stride != 1 || o.Dilation != 1 || o.Groups != 1 {
		return nil, fmt.Errorf("ops: %s: stride %d, dilation %d, %d groups: %w, expected 1 of each: use conv2d_implicit", name, o.Stride, o.Dilation, o.Groups, gpu.ErrArgument)
	}
	w.Module, w.Parameters = "winograd", w.Parameters[1:2] // the padding
	w.Remake = func(v []float64) (*ladder.Operator, error) {
		other := o
		other.Padding = int(v[0])
		return withWinograd(m, other)
	}
	valid := w.Valid
	w.Valid = func(s ladder.Size) error {
		if s[5] != 3 || s[6] != 3 {
			return fmt.Errorf("ops: %s: filters of %d x %d: %w, expected 3 x 3: use conv2d_implicit", name, s[5], s[6], gpu.ErrArgument)
		}
		if err := valid(s); err != nil {
			return err
		}
		x, a := o.of(s), m+2
		if tiles := x.n * ladder.CeilDiv(x.oh, m) * ladder.CeilDiv(x.ow, m); max(x.c, x.k) > most/(a*a)/tiles || x.c > most/(a*a)/x.k {
			return fmt.Errorf("ops: %s: %d tiles of %d and %d channels in %d parts: %w, expected at most %d elements: split the images", name, tiles, x.c, x.k, a*a, gpu.ErrArgument, most)
		}
		return nil
	}
	w.Data = []ladder.DataSet{ladder.UniformData, ladder.NormalData}
	w.Cases = nil
	for _, c := range []ladder.Case{
		{Size: ladder.Size{1, 1, 1, 1, 1, 3, 3}}, {Size: ladder.Size{1, 1, 4, 4, 1, 3, 3}}, {Size: ladder.Size{2, 3, 5, 7, 4, 3, 3}}, {Size: ladder.Size{1, 2, 8, 9, 65, 3, 3}, Data: "normal"},
		{Size: ladder.Size{1, 17, 6, 6, 3, 3, 3}}, {Size: ladder.Size{1, 16, 33, 18, 2, 3, 3}, Data: "normal"}, {Size: ladder.Size{2, 4, 7, 6, 5, 3, 3}, Start: 1},
		{Size: ladder.Size{2, 64, 14, 15, 80, 3, 3}, Long: true},
	} {
		if w.Valid(c.Size) == nil {
			w.Cases = append(w.Cases, c)
		}
	}
	w.Reference = func(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []ladder.Expected {
		e := o.reference(stop, s, inputs)
		e[0].Magnitude = winogradRung{o, m}.magnitude(stop, s, inputs)
		return e
	}
	rung := winogradRung{o, m}
	w.Variants = []ladder.Variant{{
		Name: fmt.Sprintf("conv2d_winograd%d", m), Adds: fmt.Sprintf("F(%d x %d, 3 x 3): %d multiplications per channel for %d outputs in place of %d; filters, tiles and sums are transformed in launches of their own", m, m, (m+2)*(m+2), m*m, 9*m*m),
		Source: "ours", Plan: rung.plan,
	}, {
		Name: fmt.Sprintf("conv2d_winograd%d_fused", m), Adds: "Hopper: one launch after that of the filters; warps transform tiles of x for others that multiply, and sums cross shared memory",
		Source: "ours", Module: "winograd_fused", Needs: hopper, Plan: rung.fused, Refuses: rung.refusesFused,
	}}
	return w, nil
}

// winogradRung is Winograd's F(m x m, 3 x 3).
type winogradRung struct {
	Options
	m int
}

// plan launches the transforms of filters and tiles, the products, and the transform
// of the sums.
func (o winogradRung) plan(entry string, s ladder.Size, _ gpu.Info) ladder.Plan {
	m := o.m
	d, parts := o.of(s), (m+2)*(m+2)
	across, down := ladder.CeilDiv(d.ow, m), ladder.CeilDiv(d.oh, m)
	tiles := d.n * across * down
	p := ladder.Plan{Depth: d.c + winogradRoundings}
	u, v, sums := p.NewScratch("u", parts*d.k*d.c), p.NewScratch("v", parts*d.c*tiles), p.NewScratch("sums", parts*d.k*tiles)
	bias := "w" // is not read as one
	if o.Bias {
		bias = "bias"
	}
	threadsOf := func(n int) gpu.Dim { return gpu.Dim{X: ladder.CeilDiv(n, threads)} }
	for _, l := range []struct {
		suffix string
		grid   gpu.Dim
		args   []any
	}{
		{"", threadsOf(d.k * d.c), []any{"w", u, o.shape(s)}},
		{"_2", threadsOf(d.c * tiles), []any{"x", v, o.shape(s), uint32(across), uint32(down)}},
		{"_3", gpu.Dim{X: ladder.CeilDiv(tiles, tile), Y: ladder.CeilDiv(d.k, tile), Z: parts}, []any{u, v, sums, o.shape(s), uint32(tiles)}},
		{"_4", threadsOf(d.k * tiles), []any{sums, bias, "y", o.shape(s), uint32(across), uint32(down)}},
	} {
		p.Steps = append(p.Steps, ladder.Step{Entry: entry + l.suffix, Grid: l.grid, Block: gpu.Dim{X: threads}, Args: l.args})
	}
	return p
}

// magnitude is what roundings of the algorithm are in proportion to: its sums with
// every factor and coefficient positive.
//
// A transform adds at most 6 terms with a rounded coefficient each, twice: of a quantity q
// its error is at most bound(14) of the same with absolute values. Products and the sum over
// c channels add c + 1 roundings, the way back 14 again, and a bias 1. Absolute values
// commute with all of it, so the bounds add up as those of one sum do.
func (o winogradRung) magnitude(stop ladder.Stop, s ladder.Size, inputs []ladder.Values) []float64 {
	m := o.m
	x, w, d, p := inputs[0].([]float32), inputs[1].([]float32), o.of(s), o.shape(s)
	of, a := winogradMatrices(m), m+2
	across, down := ladder.CeilDiv(d.ow, m), ladder.CeilDiv(d.oh, m)
	all := make([]float64, d.elementsOfY())
	square := func(n int, at func(i, j int) float64) [][]float64 {
		b := make([][]float64, n)
		for i := range b {
			b[i] = make([]float64, n)
			for j := range b[i] {
				b[i][j] = math.Abs(at(i, j))
			}
		}
		return b
	}
	u := make([][][]float64, d.k*d.c)
	for i := range u {
		u[i] = sandwich(of.w, square(3, func(r, q int) float64 {
			return float64(w[i/d.c*int(p.WK)+i%d.c*int(p.WC)+r*int(p.WR)+q*int(p.WS)])
		}), true)
	}
	stop.ParallelBy(max(1, ladder.Piece/max(1, a*a*d.c*d.k)), d.n*across*down, func(from, to int) {
		for t := from; t < to; t++ {
			n, top, left := t/(across*down), t/across%down*m, t%across*m
			v := make([][][]float64, d.c)
			for c := range v {
				v[c] = sandwich(of.x, square(a, func(i, j int) float64 {
					row, column := top+i-o.Padding, left+j-o.Padding
					if row < 0 || row >= d.h || column < 0 || column >= d.w {
						return 0
					}
					return float64(x[n*int(p.XN)+c*int(p.XC)+row*int(p.XH)+column*int(p.XW)])
				}), true)
			}
			for k := range d.k {
				sum := square(a, func(i, j int) (sum float64) {
					for c := range v {
						sum += u[k*d.c+c][i][j] * v[c][i][j]
					}
					return sum
				})
				back := sandwich(of.y, sum, true)
				for i := range m {
					for j := range m {
						if top+i < d.oh && left+j < d.ow {
							all[n*int(p.YN)+k*int(p.YK)+(top+i)*int(p.YH)+(left+j)*int(p.YW)] = back[i][j]
						}
					}
				}
			}
		}
	})
	return all
}

// Constants of winograd_fused.cu.
const (
	fusedTiles   = 32  // = item_tiles
	fusedStage   = 4   // = stage_channels: channels of x
	fusedStages  = 3   // = stages
	fusedThreads = 512 // = maxntid(conv2d_winograd2_fused_2)
)

// fusedItems is Items of winograd_fused.cu.
type fusedItems struct{ Across, Down, Blocks, Items, Steps uint32 }

// fusedCut is what Cut of winograd_fused.cu has for F(m, 3): the channels of y of an item, and
// floats of a stage and of the sums that are exchanged.
func fusedCut(m int) (channels, stage, exchange int) {
	parts := (m + 2) * (m + 2)
	channels, exchange = 64, parts*32*68
	if m == 4 {
		channels, exchange = 32, 2*parts*8*40
	}
	return channels, fusedStage * parts * (channels + fusedTiles), exchange
}

// refusesFused rejects layouts whose rows do not lie together.
func (o winogradRung) refusesFused(ladder.Size) error {
	if o.NHWC {
		return fmt.Errorf("%w: channels innermost: expected rows that lie together; use conv2d_winograd%d", gpu.ErrUnsupported, o.m)
	}
	return nil
}

// fused launches the transform of the filters, and all else.
func (o winogradRung) fused(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
	m := o.m
	d, parts := o.of(s), (m+2)*(m+2)
	channels, stage, exchange := fusedCut(m)
	across, down := ladder.CeilDiv(d.ow, m), ladder.CeilDiv(d.oh, m)
	blocks, steps := ladder.CeilDiv(d.k, channels), ladder.CeilDiv(d.c, fusedStage)
	items := fusedItems{uint32(across), uint32(down), uint32(blocks), uint32(blocks * ladder.CeilDiv(d.n*across*down, fusedTiles)), uint32(steps)}
	filters := blocks * channels * steps * fusedStage
	p := ladder.Plan{Depth: d.c + winogradRoundings}
	u := p.NewScratch("u", parts*filters)
	p.Steps = []ladder.Step{
		{Entry: entry, Grid: gpu.Dim{X: ladder.CeilDiv(filters, threads)}, Block: gpu.Dim{X: threads}, Args: []any{"w", u, o.shape(s), items}},
		{Entry: entry + "_2", Grid: gpu.Dim{X: min(int(items.Items), max(1, info.SMs))}, Block: gpu.Dim{X: fusedThreads}, Shared: 4*(fusedStages*stage+exchange) + 8*(2*fusedStages+2),
			Args: []any{"x", u, o.operands("x")[2], "y", o.shape(s), items}},
	}
	return p
}
