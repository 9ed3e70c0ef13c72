package gelu

import (
	"warpbook/ops/ladder"
)

// Error bounds of the arithmetic of a rung before its result is rounded, as a share of
// |x|. The sums 1 + tanh and 1 + erf cancel where x is negative, so that the error of
// tanh and erf counts as a share of x and not of the result.
const (
	halves  = 0x1p-8  // roundings of u cost 5 * 2^-11 * max(u tanh' u) = 2^-9.8, tanh.approx 2^-12, the product three halves of a unit
	approx  = 0x1p-11 // PTX ISA: tanh.approx.f32 is within 2^-11 of tanh, half of which is a share of x; the rest is room
	library = 0x1p-22 // tanhf and erff are within 2 units of 2^-24, u within 3
	none    = 0
)

var variants = []ladder.Variant{
	{
		Name: "gelu_half", Adds: "a thread for each element, every operation in halves",
		Source: "ours", Plan: launch(1, halves),
	},
	{
		Name: "gelu_half2", Adds: "two halves per thread: one instruction computes with both",
		Source: "000 3.2", Plan: launch(2, halves),
	},
	{
		Name: "gelu_half8", Adds: "eight halves per load and store",
		Source: "000 3.2", Plan: launch(8, halves),
	},
	{
		Name: "gelu_float", Adds: "computed in float32, with the tanh of the library",
		Source: "ours", Plan: launch(8, library),
	},
	{
		Name: "gelu_tanh_approx", Adds: "the tanh is one instruction",
		Source: "ours", Plan: launch(8, approx),
	},
	{
		Name: "gelu_exp2", Adds: "x / (1 + 2^v) in place of 1 + tanh: two instructions, and nothing cancels",
		Source: "ours", Plan: launch(8, none),
	},
	{
		Name: "gelu_block_128", Adds: "the same in blocks of 128 threads in place of 256",
		Source: "ours", Plan: blocks(128, 8, none),
	},
}

var erfVariants = []ladder.Variant{
	{
		Name: "gelu_erf", Adds: "a thread for each element, in float32",
		Source: "ours", Plan: launch(1, library),
	},
	{
		Name: "gelu_erf8", Adds: "eight halves per load and store",
		Source: "ours", Plan: launch(8, library),
	},
	{
		Name: "gelu_erfc8", Adds: "erfc(-z) in place of 1 + erf(z): nothing cancels",
		Source: "ours", Plan: launch(8, none),
	},
	{
		Name: "gelu_erf_two_vectors", Adds: "erf again: two vectors per thread in blocks of 128, whose loads come before the arithmetic",
		Source: "ours", Plan: blocks(128, 16, library),
	},
}
