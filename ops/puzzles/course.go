package puzzles

import (
	"slices"

	"warpbook/gpu"
)

// all are the puzzles in the order of the notebook.
var all = slices.Concat(course, triton)

func perElement(f func(in [][]float64, i int) float64, n int) func([][]float64) []float64 {
	return func(in [][]float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(in, i)
		}
		return out
	}
}

// course are the fourteen puzzles.
var course = []*Puzzle{
	{
		Name: "map", Task: "Each of 8 threads adds 10 to one element.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 8},
		Out: Array{Name: "out", Shape: []int{8}}, In: []Array{{Name: "x", Shape: []int{8}}},
		Hints: []string{"threadIdx.x is the number of the thread in its block, from 0 to 7.", "One line is enough: out[i] gets x[i] + 10."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 8),
	},
	{
		Name: "zip", Task: "Each of 8 threads multiplies two elements of the same place.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 8},
		Out: Array{Name: "out", Shape: []int{8}}, In: []Array{{Name: "x", Shape: []int{8}}, {Name: "y", Shape: []int{8}}},
		Hints: []string{"It is map with two inputs.", "Nothing but i connects the two arrays."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] * in[1][i] }, 8),
	},
	{
		Name: "guard", Task: "There are 16 threads and n = 11 elements: add 10 to each, and touch nothing behind the end.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{11}}, In: []Array{{Name: "x", Shape: []int{11}}}, Scalars: []Scalar{{"n", 11}},
		Hints: []string{"Threads 11 to 15 have no element.", "if (i < n) around the line, for the read as well as for the write."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 11),
	},
	{
		Name: "2d", Task: "A block of 8 x 8 threads adds 10 to a matrix of 5 rows and 7 columns.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 8, Y: 8},
		Out: Array{Name: "out", Shape: []int{5, 7}}, In: []Array{{Name: "x", Shape: []int{5, 7}}}, Scalars: []Scalar{{"rows", 5}, {"columns", 7}},
		Hints: []string{"Let threadIdx.x be the column: neighbouring threads then read neighbouring elements.", "Element (row, column) lies at row * columns + column. Both need a guard: without that of the column, column 7 is the next row's column 0."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 35),
	},
	{
		Name: "broadcast", Task: "out[r][c] = x[r] + y[c], for 5 rows and 7 columns.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 8, Y: 8},
		Out: Array{Name: "out", Shape: []int{5, 7}}, In: []Array{{Name: "x", Shape: []int{5}}, {Name: "y", Shape: []int{7}}}, Scalars: []Scalar{{"rows", 5}, {"columns", 7}},
		Hints: []string{"No matrix is read: a column vector and a row vector are.", "x is indexed by the row alone, y by the column alone."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i/7] + in[1][i%7] }, 35),
	},
	{
		Name: "blocks", Task: "Three blocks of 8 threads add 10 to n = 21 elements.",
		Grid: gpu.Dim{X: 3}, Block: gpu.Dim{X: 8},
		Out: Array{Name: "out", Shape: []int{21}}, In: []Array{{Name: "x", Shape: []int{21}}}, Scalars: []Scalar{{"n", 21}},
		Hints: []string{"threadIdx.x begins at 0 in each block.", "i = blockIdx.x * blockDim.x + threadIdx.x, and the guard of before."},
		Want:  perElement(func(in [][]float64, i int) float64 { return in[0][i] + 10 }, 21),
	},
	{
		Name: "shared", Task: "Each block of 16 threads reverses its own 16 elements, through shared memory.",
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{32}}, In: []Array{{Name: "x", Shape: []int{32}}},
		Hints:  []string{"__shared__ float s[16]; is one array for the whole block.", "Write s[threadIdx.x], wait with __syncthreads(), read s[15 - threadIdx.x].", "The barrier stands between the write and the read, and every thread comes to it."},
		Limits: []Limit{{Count: "shared writes", Least: 32, Why: "each element goes through shared memory"}},
		Want:   perElement(func(in [][]float64, i int) float64 { return in[0][i/16*16+15-i%16] }, 32),
	},
	{
		Name: "pooling", Task: "out[i] = x[i-2] + x[i-1] + x[i], where elements before the first count as 0; each element of x is read once.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{16}}, In: []Array{{Name: "x", Shape: []int{16}}},
		Hints:  []string{"Each thread loads one element into shared memory.", "Behind the barrier it reads up to three of them: threads 0 and 1 fewer."},
		Limits: []Limit{{Count: "global reads", Most: 16, Why: "load each element of x once and share it"}},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for k := max(0, i-2); k <= i; k++ {
				sum += in[0][k]
			}
			return sum
		}, 16),
	},
	{
		Name: "dot", Task: "out[0] is the dot product of two vectors of 32 elements; one block, one write.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32},
		Out: Array{Name: "out", Shape: []int{1}}, In: []Array{{Name: "x", Shape: []int{32}}, {Name: "y", Shape: []int{32}}},
		Hints:  []string{"Multiply first, each thread its own product, into shared memory.", "Then a tree: half of the threads add, then a quarter, with a barrier after each step.", "The barrier stands outside of the if: all threads must come to it."},
		Limits: []Limit{{Count: "global reads", Most: 64, Why: "read each element once"}, {Count: "global writes", Most: 1, Why: "one thread writes the sum"}, {Count: "global atomics", Most: 0, Why: "add within the block"}},
		Want: func(in [][]float64) []float64 {
			sum := 0.0
			for i, x := range in[0] {
				sum += x * in[1][i]
			}
			return []float64{sum}
		},
	},
	{
		Name: "conv", Task: "out[i] = sum of k[j] * x[i+j] for j from 0 to 3, where elements behind the end count as 0; two blocks of 12 threads.",
		Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 12},
		Out: Array{Name: "out", Shape: []int{20}}, In: []Array{{Name: "x", Shape: []int{20}}, {Name: "k", Shape: []int{4}}}, Scalars: []Scalar{{"n", 20}},
		Hints:  []string{"A block needs 12 elements of x and a halo of 3 more behind them.", "The first three threads load two elements each.", "Put k into shared memory too: four threads load it, and 0 stands for what lies behind the end."},
		Limits: []Limit{{Count: "global reads", Most: 35, Why: "a block needs 15 elements of x at most, and 4 of k"}},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for j, k := range in[1] {
				if i+j < len(in[0]) {
					sum += k * in[0][i+j]
				}
			}
			return sum
		}, 20),
	},
	{
		Name: "scan", Task: "out[i] = x[0] + ... + x[i] for 16 elements, in one block.",
		Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{16}}, In: []Array{{Name: "x", Shape: []int{16}}},
		Hints:  []string{"Step d: each thread from d on adds the sum d places before its own; d is 1, 2, 4, 8.", "Read, wait, write, wait: another thread reads what you are about to overwrite.", "Keep the sum that was read in a register across the first barrier."},
		Limits: []Limit{{Count: "global reads", Most: 16, Why: "read each element once"}},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for k := 0; k <= i; k++ {
				sum += in[0][k]
			}
			return sum
		}, 16),
	},
	{
		Name: "axis", Task: "out[r] is the sum of row r of a matrix of 4 rows and 12 columns; a block of 16 threads for each row.",
		Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{4}}, In: []Array{{Name: "x", Shape: []int{4, 12}}}, Scalars: []Scalar{{"columns", 12}},
		Hints:  []string{"blockIdx.x is the row.", "Threads 12 to 15 put a 0 into shared memory, so that the tree has 16 leaves."},
		Limits: []Limit{{Count: "global reads", Most: 48, Why: "read each element once"}, {Count: "global writes", Most: 4, Why: "one write a row"}},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for c := range 12 {
				sum += in[0][i*12+c]
			}
			return sum
		}, 4),
	},
	{
		Name: "matmul", Task: "out = x y for two 10 x 10 matrices, with tiles of 4 x 4 in shared memory; 3 x 3 blocks of 4 x 4 threads.",
		Grid: gpu.Dim{X: 3, Y: 3}, Block: gpu.Dim{X: 4, Y: 4},
		Out: Array{Name: "out", Shape: []int{10, 10}}, In: []Array{{Name: "x", Shape: []int{10, 10}}, {Name: "y", Shape: []int{10, 10}}}, Scalars: []Scalar{{"n", 10}},
		Hints:  []string{"Each thread loads one element of a tile of x and one of a tile of y, waits, and adds four products.", "Elements outside of the matrix count as 0; a thread outside still loads for the others.", "A second barrier before the next tile overwrites the one that others still read."},
		Limits: []Limit{{Count: "global reads", Most: 600, Why: "a tile is loaded once for a block: without tiles there are 2000 reads"}},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for k := range 10 {
				sum += in[0][i/10*10+k] * in[1][k*10+i%10]
			}
			return sum
		}, 100),
	},
	{
		Name: "bugs", Task: "The kernel adds up blocks of 16 of n = 45 elements, one sum per block. It has three mistakes: find and mend them.",
		Grid: gpu.Dim{X: 3}, Block: gpu.Dim{X: 16},
		Out: Array{Name: "out", Shape: []int{3}}, In: []Array{{Name: "x", Shape: []int{45}}}, Scalars: []Scalar{{"n", 45}},
		Hints: []string{"The check names the first mistake, with its line. Mend it and check again.", "A load behind the end; a barrier that is missing; a result of which only one block's stays."},
		Want: perElement(func(in [][]float64, i int) (sum float64) {
			for k := i * 16; k < min(i*16+16, 45); k++ {
				sum += in[0][k]
			}
			return sum
		}, 3),
	},
}
