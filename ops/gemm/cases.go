package gemm

import "warpbook/ops/ladder"

// cases bracket the edges of every tile: 16, 32, 64 and 128 in m and n, 8 and 32 in
// k, and vectors of four. The sizes with a profile leave a rest everywhere or nowhere.
var cases = append(atSizes(false,
	ladder.Size{0, 5, 3}, ladder.Size{5, 0, 3}, ladder.Size{5, 3, 0}, ladder.Size{0, 0, 0}, ladder.Size{1, 1, 1}, ladder.Size{1, 130, 3},
	ladder.Size{129, 1, 9}, ladder.Size{3, 5, 300}, ladder.Size{15, 17, 7}, ladder.Size{16, 16, 8}, ladder.Size{31, 33, 31}, ladder.Size{33, 31, 33},
	ladder.Size{63, 65, 16}, ladder.Size{65, 63, 17}, ladder.Size{127, 129, 8}, ladder.Size{128, 128, 40}, ladder.Size{129, 127, 41},
	ladder.Size{131, 260, 23}, ladder.Size{64, 64, 32}, ladder.Size{128, 132, 96}, ladder.Size{256, 128, 64}),
	profiled("aligned", 256, 384, 40), profiled("odd", 321, 261, 77))

// tensorCases are around the tiles, vectors and steps of tensor cores, and on a GPU of
// several of Hopper's tiles and more steps than stages. kind names the profiles.
func tensorCases(kind string) []ladder.Case {
	small := atSizes(false, ladder.Size{0, 5, 3}, ladder.Size{5, 3, 0}, ladder.Size{1, 1, 1}, ladder.Size{3, 5, 70},
		ladder.Size{129, 127, 41}, ladder.Size{128, 136, 64}, ladder.Size{17, 264, 33})
	large := atSizes(true, ladder.Size{256, 512, 1024}, ladder.Size{300, 520, 200}, ladder.Size{1000, 1000, 1000}, ladder.Size{2100, 4104, 264})
	return append(append(small, large...), profiled(kind+"_aligned", 256, 384, 96), profiled(kind+"_odd", 321, 261, 77))
}

// batchedCases are batches around tiles and around what one launch takes.
var batchedCases = append(atSizes(false,
	ladder.Size{0, 3, 3, 3}, ladder.Size{3, 0, 3, 3}, ladder.Size{2, 3, 5, 0}, ladder.Size{1, 1, 1, 1}, ladder.Size{3, 129, 20, 33},
	ladder.Size{2, 128, 128, 32}, ladder.Size{33, 5, 7, 9}, ladder.Size{65, 2, 3, 1}, ladder.Size{5, 129, 260, 36}, ladder.Size{140, 4, 8, 40},
	ladder.Size{1, 256, 512, 64}),
	profiled("batched_aligned", 3, 256, 256, 40), profiled("batched_odd", 35, 65, 69, 33))

// biasReLUCases are those of the product, fewer: its loop is the product's.
var biasReLUCases = append(append(atSizes(false, ladder.Size{0, 5, 3}, ladder.Size{5, 3, 0}, ladder.Size{1, 1, 1}, ladder.Size{3, 130, 70},
	ladder.Size{129, 127, 41}, ladder.Size{128, 256, 64}),
	atSizes(true, ladder.Size{300, 520, 1000}, ladder.Size{640, 6400, 40}, ladder.Size{2100, 4104, 264}, ladder.Size{256, 512, 4096})...),
	profiled("bias_relu_aligned", 256, 384, 40), profiled("bias_relu_odd", 321, 261, 77))

func atSizes(onGPU bool, sizes ...ladder.Size) (cases []ladder.Case) {
	for _, size := range sizes {
		cases = append(cases, ladder.Case{Size: size, OnGPU: onGPU})
	}
	return cases
}

func profiled(name string, size ...int) ladder.Case { return ladder.Case{Size: size, Profile: name} }

// withCases is an operator with its cases.
func withCases(o *ladder.Operator, cases []ladder.Case) *ladder.Operator {
	o.Cases = cases
	return o
}
