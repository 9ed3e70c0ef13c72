package fused

import (
	"fmt"
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

func variants(scale float32) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "fused_four_launches", Adds: "four launches: every step of the formula goes through memory",
			Source: "ours", Plan: fourLaunches(scale),
		},
		{
			Name: "fused_element", Adds: "one launch: an element is read once and written once",
			Source: "000 3.4", Plan: launch(scale, 1024, 1, 3, 0),
			Published: published("000 FusedBiasAddCUDAKernelFloat"),
		},
		{
			Name: "fused_vec4", Adds: "accesses of 16 bytes; the masks are read one by one",
			Source: "ours", Plan: launch(scale, 1024, 4, 3, 0),
		},
		{
			Name: "fused_wide_mask", Adds: "four masks in one load",
			Source: "ours", Plan: launch(scale, 1024, 4, 3, 0),
		},
		{
			Name: "fused_streaming", Adds: "stores leave the caches first",
			Source: "ours", Plan: launch(scale, 1024, 4, 3, 0),
		},
		{
			Name: "fused_block_256", Adds: "blocks of 256 threads in place of 1024",
			Source: "ours", Plan: launch(scale, 256, 4, 3, 0),
		},
		{
			Name: "fused_evict_last", Adds: "loads tell L2 to evict their lines last; blocks of 1024 threads",
			Source: "ours", Needs: ladder.Ampere, Plan: launch(scale, 1024, 4, 3, 0),
		},
	}
}

// rounding bounds the error of four operations in halves and of a scale rounded to a half,
// as a share of the sum of |terms|.
const rounding = 5 * 0x1p-11

func halfVariants(scale float32) []ladder.Variant {
	return []ladder.Variant{
		{
			Name: "fused_half_raw_mask", Adds: "two elements per thread; the masks multiply as they are, not as 0 or 1",
			Source: "000 3.4", Plan: launch(scale, 1024, 2, 0, rounding), Expect: raw, Refuses: chance,
			Published: published("000 FusedBiasAddCUDAKernelFloat<__half>"),
		},
		{
			Name: "fused_half2", Adds: "a mask is 0 or not",
			Source: "000 3.4, mended", Plan: launch(scale, 1024, 2, 0, rounding),
		},
		{
			Name: "fused_half8", Adds: "accesses of 16 bytes; the masks are read one by one",
			Source: "ours", Plan: launch(scale, 1024, 8, 0, rounding),
		},
		{
			Name: "fused_half_wide_mask", Adds: "eight masks in one load",
			Source: "ours", Plan: launch(scale, 1024, 8, 0, rounding),
		},
		{
			Name: "fused_half_streaming", Adds: "stores leave the caches first",
			Source: "ours", Plan: launch(scale, 1024, 8, 0, rounding),
		},
		{
			Name: "fused_half_block_256", Adds: "blocks of 256 threads in place of 1024",
			Source: "ours", Plan: launch(scale, 256, 8, 0, rounding),
		},
		{
			Name: "fused_half_evict_last", Adds: "loads tell L2 to evict their lines last; blocks of 1024 threads",
			Source: "ours", Needs: ladder.Ampere, Plan: launch(scale, 1024, 8, 0, rounding),
		},
	}
}

// certain is the smallest number of elements at which one of the masks of a test is
// neither 0 nor 1: all 64 are with a probability of 2^-64 * (256/255)^64.
const certain = 64

// raw expects wrong results from masks other than 0 and 1.
func raw(s ladder.Size) string {
	if s[0]*s[1] >= certain {
		return ladder.CheckBound
	}
	return ""
}

// chance rejects the sizes at which the masks may all be 0 or 1.
func chance(s ladder.Size) error {
	if n := s[0] * s[1]; n > 0 && n < certain {
		return fmt.Errorf("%w: whether one of %d masks is neither 0 nor 1 is chance: expected none or at least %d", gpu.ErrUnsupported, n, certain)
	}
	return nil
}

// published are the times that note 000 prints of a kernel, for 2^30 elements in rows of
// 1024.
func published(kernel string) []ladder.Figure {
	figures := ladder.Published(kernel, "time")
	for i, f := range figures {
		figures[i].Size = ladder.Size{f.Size[0] / 1024, 1024}
	}
	return figures
}
