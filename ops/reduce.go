package ops

import "math"

// Reduce sums a vector: y[0] = x[0] + ... + x[n-1], and 0 for n = 0.
//
// Shapes: x (n), y (1). Types: float32, reference float64.
// Error:  |y - ref| <= min(bound(depth), 1e-3) * sum|x|, see Bound; where the
// bound is the looser one, y equals the float32 CPU sum in the same order. The
// serial rungs must fail beyond 2^25 elements, where float32 cannot count on.
// Cost:   4n+4 bytes, n-1 adds: memory bound.
// Source: M. Harris, "Optimizing Parallel Reduction in CUDA", as retold by the
// founding notes 000, 001, 002 and 004.
var Reduce = &Operator{
	Name:      "reduce",
	Formula:   "y[0] = x[0] + ... + x[n-1]",
	Source:    `M. Harris, "Optimizing Parallel Reduction in CUDA"`,
	Dims:      []string{"n"},
	MaxDim:    math.MaxInt32,
	Inputs:    func(s Size) []Tensor { return []Tensor{{Name: "x", Len: s[0]}} },
	Outputs:   func(Size) []Tensor { return []Tensor{{Name: "y", Len: 1}} },
	Reference: reduceReference,
	Exact: func(stop Stop, s Size, seed uint64) [][]float32 {
		return [][]float32{integers(stop, s[0], newRandom(seed))}
	},
	Bytes:    func(s Size) float64 { return 4*float64(s[0]) + 4 },
	Flops:    func(s Size) float64 { return math.Max(0, float64(s[0])-1) },
	Variants: reduceVariants,
}

func reduceReference(stop Stop, _ Size, inputs [][]float32) []Expected {
	value, magnitude := sum(stop, inputs[0])
	return []Expected{{[]float64{value}, []float64{magnitude}}}
}

// stuck expects of a float32 sum from first to last that it stops at 2^24: a
// number in [0, 1) changes it no more. Their mean is 1/2, so that the error
// passes 1e-3 at 2^25 elements and a thousandth more; within some 8000 elements
// of there chance decides.
func stuck(s Size) string {
	const full = 1 << 25
	if s[0] > full+full/1000 {
		return CheckTolerance
	}
	return ""
}

func reduceInOrder(stop Stop, _ Size, inputs, outputs [][]float32) {
	outputs[0][0] = sumSerial(stop, inputs[0])
}

// The sizes at which the notes publish figures.
var (
	notes000 = Size{25_600_000}
	notes002 = Size{100_000_000}
)

// ms is a figure of note 000.
func ms(value float64, where string) Figure {
	return Figure{Value: value, Unit: "ms", Size: notes000, Where: where}
}

var reduceVariants = []Variant{
	{
		Name: "cpu_serial", Adds: "float32 in compiled Go on one core, first element to last",
		Source: "002", Plan: oneThread, Host: reduceInOrder, Order: reduceInOrder, Expect: stuck,
		Published: []Figure{{Value: 100, Unit: "ms", Size: notes002, Device: "CPU unknown", Where: "002", Comment: "about"}},
	},
	{
		Name: "reduce_serial", Adds: "one GPU thread adds everything, as a CPU would",
		Source: "000 2.1", Plan: oneThread, Order: reduceInOrder, Expect: stuck,
		Published: []Figure{ms(999, "000 list")},
	},
	{
		Name: "reduce_v0_interleaved", Adds: "a tree in shared memory over 256 threads, neighbours first, chosen with %",
		Source: "000 2.2, 001 baseline", Plan: blockSums(256, 1),
		Published: []Figure{ms(3.835, "000 list")},
	},
	{
		Name: "reduce_v1_strided_index", Adds: "the threads that add are neighbours: whole warps go idle",
		Source: "000 2.3", Plan: blockSums(256, 1),
		Published: []Figure{ms(3.065, "000 list")},
	},
	{
		Name: "reduce_v2_sequential", Adds: "the elements that are added lie side by side: no bank conflicts",
		Source: "000 2.4, 001 sum_2", Plan: blockSums(256, 1),
		Published: []Figure{{Size: notes000, Where: "000 list", Comment: "only as an image"}},
	},
	{
		Name: "reduce_v3_first_add", Adds: "each thread adds two elements while loading: half the blocks",
		Source: "000 2.5, 001 sum_3", Plan: blockSums(256, 2),
		Published: []Figure{ms(2.301, "000 list")},
	},
	{
		Name: "reduce_v4_last_warp", Adds: "the last warp is unrolled and synchronises itself, not the block",
		Source: "000 2.6, 001 sum_4", Plan: blockSums(256, 2),
		Published: []Figure{ms(1.147, "000 list"), ms(0.694, "000 2.6 code")},
	},
	{
		Name: "reduce_v5_unrolled", Adds: "the loop over steps is unrolled: the block's size is a constant",
		Source: "000 2.7, 001 sum_5", Plan: blockSums(256, 2),
		Published: []Figure{ms(0.694, "000 list"), ms(0.656, "000 2.7 code")},
	},
	{
		Name: "reduce_v6_grid_stride", Adds: "8 blocks a multiprocessor stride over x; a second launch adds their sums",
		Source: "000 2.8", Plan: gridStride(256, 8, "_2"),
		Published: []Figure{ms(1.831, "000 list")},
	},
	{
		Name: "reduce_warp_shuffle", Adds: "lanes pass registers to each other: shared memory holds one sum a warp",
		Source: "000 2.9", Plan: gridStride(256, 8, ""),
		Published: []Figure{ms(1.254, "000 list and 2.9 code")},
	},
	{
		Name: "reduce_global", Adds: "the tree in global memory, in place, on a copy",
		Source: "002", Plan: blockSumsInPlace(128),
		Published: []Figure{{Value: 5.8, Unit: "ms", Size: notes002, Where: "002"}},
	},
	{
		Name: "reduce_shared_static", Adds: "the tree moves to static shared memory",
		Source: "002", Plan: blockSums(128, 1),
		Published: []Figure{{Size: notes002, Where: "002", Comment: "in words: not faster than reduce_global"}},
	},
	{
		Name: "reduce_shared_dynamic", Adds: "the launch names the size of the shared memory",
		Source: "002", Plan: blockSumsShared(128),
	},
	{
		Name: "reduce_syncwarp", Adds: "the last five steps synchronise a warp; block sums meet in an atomicAdd",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_shfl_down", Adds: "the last five steps are shuffles down",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_shfl_xor", Adds: "the shuffles exchange: every lane ends with the sum",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_cooperative_groups", Adds: "the warp is a tile of 32 threads of cooperative groups",
		Source: "004", Plan: atomicSums(128),
	},
	{
		Name: "reduce_two_pass", Adds: "10240 blocks stride over x into static device memory; one block adds",
		Source: "004", Plan: twoPass,
	},
	{
		// On an H200 in November 2026, the first launch alone: 25.6 us at 25.6 M and 92.2 at 1e8, where a
		// kernel that only reads takes 26.7 and 92.2. The best of a sweep over 660 shapes; with loads a grid
		// apart 26.0, and so 4 blocks of 256 25.8, 1 of 1024 25.9, 2 of 512 with 8 loads 26.6.
		Name: "reduce_bandwidth", Adds: "four float4 loads in flight a thread, 1536 threads a multiprocessor",
		Source: "ours", Plan: tiles,
	},
	{
		// 26.9 us at 25.6 M on an H200 (November 2026), both launches of the rung before 29.1.
		Name: "reduce_last_block", Adds: "the last block to finish adds the sums of all: one launch",
		Source: "ours", Plan: lastBlock(),
	},
	{
		// 22.9 us at 25.6 M on an H200 (November 2026); a share of 41 MB of L2's 60 MiB 25.0, and
		// half of the lines evicted first but none last 26.9. Nothing is gained where L2 holds nothing of x.
		Name: "reduce_l2_resident", Adds: "a share of x, half of L2 large, is evicted last and the rest first: it is there in the next run",
		Source: "ours", Needs: ampere, Plan: lastBlock(halfOfL2),
	},
}
