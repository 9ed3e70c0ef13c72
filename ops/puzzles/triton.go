package puzzles

import (
	"math"

	"warpbook/gpu"
)

func mat(in []float64, columns int) func(r, c int) float64 {
	return func(r, c int) float64 { return in[r*columns+c] }
}

// triton are the twelve puzzles of Triton that note 003 solved, at sizes of our own.
var triton = []*Puzzle{
	{
		Name: "add", Task: "One program adds 10 to 32 elements.", Triton: true,
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{32}}, In: []Array{{Name: "x", Shape: []int{32}}},
		Hints: []string{"tl.arange(0, 32) is what threadIdx.x is to a block."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 32),
	},
	{
		Name: "add_block", Task: "Two programs add 10 to n = 50 elements, 32 each.", Triton: true,
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{50}}, In: []Array{{Name: "x", Shape: []int{50}}}, Scalars: []Scalar{{"n", 50}},
		Hints: []string{"The mask of tl.load and tl.store is the guard."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 50),
	},
	{
		Name: "outer", Task: "out[i][j] = x[j] + y[i], 8 x 8.", Triton: true,
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{8, 8}}, In: []Array{{Name: "x", Shape: []int{8}}, {Name: "y", Shape: []int{8}}},
		Hints: []string{"x[None, :] and y[:, None] make a row and a column of the vectors."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i%8] + in[1][i/8] }, 64),
	},
	{
		Name: "outer_block", Task: "The same for 12 rows and 10 columns, in tiles of 8 x 8.", Triton: true,
		Grid: gpu.Dim{X: 2, Y: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{12, 10}}, In: []Array{{Name: "x", Shape: []int{10}}, {Name: "y", Shape: []int{12}}}, Scalars: []Scalar{{"rows", 12}, {"columns", 10}},
		Hints: []string{"Both directions need a mask."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i%10] + in[1][i/10] }, 120),
	},
	{
		Name: "mul_relu", Task: "out[i][j] = max(0, x[j] * y[i]) for 12 rows and 10 columns, in tiles of 8 x 8.", Triton: true,
		Grid: gpu.Dim{X: 2, Y: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{12, 10}}, In: []Array{{Name: "x", Shape: []int{10}}, {Name: "y", Shape: []int{12}}}, Scalars: []Scalar{{"rows", 12}, {"columns", 10}},
		Hints: []string{"The product never goes to memory: that is fusion."},
		Want:  perElement(func(in [][]float64, i int) float64 { return max(0, in[0][i%10]*in[1][i/10]) }, 120),
	},
	{
		Name: "mul_relu_back", Task: "The gradient of max(0, x[i][j] * y[i]) for x: y[i] * dz[i][j] where the product is positive, else 0; 12 rows and 10 columns.", Triton: true,
		Grid: gpu.Dim{X: 2, Y: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{12, 10}}, In: []Array{{Name: "x", Shape: []int{12, 10}}, {Name: "y", Shape: []int{12}}, {Name: "dz", Shape: []int{12, 10}}},
		Scalars: []Scalar{{"rows", 12}, {"columns", 10}},
		Hints:   []string{"tl.where chooses by element."},
		Want: perElement(func(in [][]float64, i int) float64 {
			if in[0][i]*in[1][i/10] > 0 {
				return in[1][i/10] * in[2][i]
			}
			return 0
		}, 120),
	},
	{
		Name: "long_sum", Task: "The sum of each of 4 rows of 72 elements, one program per row, 32 elements at a time.", Triton: true,
		Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{4}}, In: []Array{{Name: "x", Shape: []int{4, 72}}}, Scalars: []Scalar{{"columns", 72}},
		Hints: []string{"Add vectors in the loop, and their elements once behind it."},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for c := range 72 {
				sum += mat(in[0], 72)(i, c)
			}
			return sum
		}, 4),
	},
	{
		Name: "long_softmax", Task: "Softmax of each of 4 rows of 72 elements, one program per row; maximum and sum in one pass.", Triton: true, Real: true, Tolerance: 1e-4,
		Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{4, 72}}, In: []Array{{Name: "x", Shape: []int{4, 72}}}, Scalars: []Scalar{{"columns", 72}},
		Hints: []string{"A new maximum scales the sum by exp(old - new)."},
		Want: func(in [][]float64) (out []float64) {
			for r := range 4 {
				sum := 0.0
				for c := range 72 {
					sum += math.Exp(mat(in[0], 72)(r, c))
				}
				for c := range 72 {
					out = append(out, math.Exp(mat(in[0], 72)(r, c))/sum)
				}
			}
			return out
		},
	},
	{
		Name: "flash", Task: "out[i] is the mean of v with weights softmax(q[i] * k), for n = 48 scalars, in one pass over k and v.", Triton: true, Real: true, Tolerance: 1e-4,
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{48}}, In: []Array{{Name: "q", Shape: []int{48}}, {Name: "k", Shape: []int{48}}, {Name: "v", Shape: []int{48}}}, Scalars: []Scalar{{"n", 48}},
		Hints: []string{"What scales the sum scales the result so far as well."},
		Want: perElement(func(in [][]float64, i int) float64 {
			sum, result := 0.0, 0.0
			for j, k := range in[1] {
				share := math.Exp(in[0][i] * k)
				sum += share
				result += share * in[2][j]
			}
			return result / sum
		}, 48),
	},
	{
		Name: "conv2d", Task: "out[b][i][j] = sum of k[a][c] * x[b][i+a][j+c] for 2 images of 8 x 8 and 3 x 3 taps; what lies behind the edge counts as 0.", Triton: true,
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{2, 8, 8}}, In: []Array{{Name: "x", Shape: []int{2, 8, 8}}, {Name: "k", Shape: []int{3, 3}}},
		Hints: []string{"Nine shifted loads of the whole image, each with its mask."},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			b, r, c := i/64, i/8%8, i%8
			for a := range 3 {
				for d := range 3 {
					if r+a < 8 && c+d < 8 {
						sum += in[1][a*3+d] * in[0][b*64+(r+a)*8+c+d]
					}
				}
			}
			return sum
		}, 128),
	},
	{
		Name: "batch_matmul", Task: "out[b] = x[b] y[b] for 2 pairs of 16 x 16 matrices.", Triton: true,
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{2, 16, 16}}, In: []Array{{Name: "x", Shape: []int{2, 16, 16}}, {Name: "y", Shape: []int{2, 16, 16}}},
		Hints: []string{"tl.dot with input_precision=\"ieee\" multiplies in float32."},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for k := range 16 {
				sum += in[0][i/16*16+k] * in[1][i/256*256+k*16+i%16]
			}
			return sum
		}, 512),
	},
	{
		Name: "quantized", Task: "out = w y for a 16 x 32 matrix w of 4-bit weights, eight in an int; each group of eight has a scale, and an offset of 4 bits.", Triton: true, Range: 60,
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{16, 16}},
		In:  []Array{{Name: "scale", Shape: []int{16, 4}}, {Name: "offset", Shape: []int{16}, Int: true}, {Name: "weight", Shape: []int{16, 4}, Int: true}, {Name: "y", Shape: []int{32, 16}}},
		Hints: []string{
			"Broadcast unpacking: weight[:, :, None] >> (tl.arange(0, 8) * 4)[None, None, :] & 15 is 16 x 4 x 8, and tl.reshape makes it 16 x 32.",
			"The offsets of a row are one int: shift it by 4 bits per group along a new direction as well.",
		},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			row := i / 16
			for k := range 32 {
				w := int32(in[2][row*4+k/8]) >> (k % 8 * 4) & 15
				o := int32(in[1][row]) >> (k / 8 * 4) & 15
				sum += in[0][row*4+k/8] * float64(w-o) * in[3][k*16+i%16]
			}
			return sum
		}, 256),
	},
}
