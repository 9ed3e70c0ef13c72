package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// matrix is row-major: element (i, j) is data[i*ld+j].
type matrix struct {
	rows, columns, ld int
	data              []float32
}

// len is the least number of elements that holds the matrix: its last row ends
// with its last column.
func (x matrix) len() int {
	if x.rows == 0 || x.columns == 0 {
		return 0
	}
	return (x.rows-1)*x.ld + x.columns
}

func (x matrix) with(data []float32) matrix {
	x.data = data
	return x
}

// reference computes D and the sums of |terms|.
func (o Options) reference(stop ladder.Stop, s ladder.Size, values []ladder.Values) []ladder.Expected {
	inputs := ladder.Slices[float32](values)
	shapes := o.shapes(s)
	a, b, d := shapes.a.with(inputs[0]), shapes.b.with(inputs[1]), shapes.d
	e := ladder.Expected{Value: make([]float64, d.len()), Magnitude: make([]float64, d.len())}
	if o.Alpha == 0 {
		a.columns = 0 // not read
	}
	plain := product(stop, a, b, func(v float32) float64 { return float64(v) })
	magnitudes := plain
	if stop.Now() {
		return []ladder.Expected{e}
	}
	if !plain64(inputs[0]) || !plain64(inputs[1]) {
		magnitudes = product(stop, a, b, finite)
	}
	for i := range e.Magnitude {
		e.Magnitude[i] = ladder.Gap
	}
	for i := 0; i < d.rows && !stop.Now(); i++ {
		for j := range d.columns {
			at, value, magnitude := i*d.ld+j, plain[i*d.columns+j], magnitudes[i*d.columns+j]
			e.Value[at], e.Magnitude[at] = float64(o.Alpha)*value, math.Abs(float64(o.Alpha))*magnitude
			if magnitude > math.MaxFloat32 { // alpha may bring the result back into range, too late
				e.Magnitude[at] = max(e.Magnitude[at], magnitude)
			}
			if o.Beta != 0 {
				c := inputs[2][at]
				e.Value[at] += float64(o.Beta) * float64(c)
				e.Magnitude[at] += math.Abs(float64(o.Beta)) * finite(c)
			}
		}
	}
	return []ladder.Expected{e}
}

// plain64 reports whether the numbers are their own magnitudes: finite and not
// negative.
func plain64(x []float32) bool {
	for _, v := range x {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return false
		}
	}
	return true
}

// finite is |v|, and 0 if v is not finite.
func finite(v float32) float64 {
	if v-v != 0 {
		return 0
	}
	return math.Abs(float64(v))
}

// product is A B in float64, of what the elements become by as. Workers take
// panels of columns of B.
func product(stop ladder.Stop, a, b matrix, as func(float32) float64) []float64 {
	out := make([]float64, a.rows*b.columns)
	stop.ParallelBy(32, b.columns, func(first, last int) { panel(stop, out, a, b, as, first, last) })
	return out
}

// panel computes columns first to last of A B, two rows and four columns at a
// time: B lies transposed in float64, a column a row of a multiple of four.
func panel(stop ladder.Stop, out []float64, a, b matrix, as func(float32) float64, first, last int) {
	k := a.columns
	columns := make([][]float64, (last-first+3)/4*4)
	for j := range columns {
		columns[j] = make([]float64, k)
		for i := 0; i < k && first+j < last; i++ {
			columns[j][i] = as(b.data[i*b.ld+first+j])
		}
	}
	rows := [2][]float64{make([]float64, k), make([]float64, k)}
	for i := 0; i < a.rows && !stop.Now(); i += 2 {
		for r := range rows {
			for l := 0; l < k && i+r < a.rows; l++ {
				rows[r][l] = as(a.data[(i+r)*a.ld+l])
			}
		}
		for j := 0; j < len(columns); j += 4 {
			sums := dots(rows[0], rows[1], columns[j], columns[j+1], columns[j+2], columns[j+3])
			for r, row := range sums {
				for c, sum := range row {
					if i+r < a.rows && first+j+c < last {
						out[(i+r)*b.columns+first+j+c] = sum
					}
				}
			}
		}
	}
}

// dots are the dot products of two rows and four columns.
func dots(x, y, a, b, c, d []float64) [2][4]float64 {
	y, a, b, c, d = y[:len(x)], a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	var xa, xb, xc, xd, ya, yb, yc, yd float64
	for i, v := range x {
		w := y[i]
		xa += v * a[i]
		xb += v * b[i]
		xc += v * c[i]
		xd += v * d[i]
		ya += w * a[i]
		yb += w * b[i]
		yc += w * c[i]
		yd += w * d[i]
	}
	return [2][4]float64{{xa, xb, xc, xd}, {ya, yb, yc, yd}}
}

// tripleLoop is the CPU reference of note 003, in float32.
func (o Options) tripleLoop(stop ladder.Stop, s ladder.Size, in, out []ladder.Values) {
	inputs, outputs := ladder.Slices[float32](in), ladder.Slices[float32](out)
	shapes := o.shapes(s)
	k := s[2]
	if o.Alpha == 0 {
		k = 0
	}
	for i := 0; i < s[0] && !stop.Now(); i++ {
		for j := range s[1] {
			var sum float32
			for l := range k {
				sum += inputs[0][i*shapes.a.ld+l] * inputs[1][l*shapes.b.ld+j]
			}
			sum *= o.Alpha
			if o.Beta != 0 {
				sum += o.Beta * inputs[2][i*shapes.d.ld+j]
			}
			outputs[0][i*shapes.d.ld+j] = sum
		}
	}
}

// tripleLoopRefuses names what takes more than seconds: 18 s at 2048 (note 003).
func tripleLoopRefuses(s ladder.Size) error {
	const most = 1 << 30
	if products := float64(s[0]) * float64(s[1]) * float64(s[2]); products > most {
		return fmt.Errorf("%w: %v on one core takes minutes, expected at most 2^30 products", gpu.ErrUnsupported, s)
	}
	return nil
}

// signs returns n numbers of -1, 0 and 1: their products add exactly up to
// 2^24 terms.
func signs(stop ladder.Stop, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = float32(random.IntN(3) - 1)
		}
	})
	return x
}
