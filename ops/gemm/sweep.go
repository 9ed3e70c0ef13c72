package gemm

import (
	"context"
	"fmt"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/ops/ladder"
)

// Shape is how the loop of gemm_wide.cuh cuts a product: a block has a tile
// of BM x BN elements and takes BK of k a step, a thread RM x RN of them.
type Shape struct {
	BM, BN, BK int
	RM, RN     int
	Slices     int // of each step, shared among the warps of a block; 0 is 1
	Held       int // steps in shared memory; 0 is 3
	Unroll     int // of k, written out in the loop; 0 is 4
}

// full is the shape with its defaults in place of 0.
func (g Shape) full() Shape {
	or := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	or(&g.Slices, 1)
	or(&g.Held, 3)
	or(&g.Unroll, 4)
	return g
}

// Name is the shape as a rung: "gemm_128x128x32_8x16_s1_h2_u4".
func (g Shape) Name() string {
	g = g.full()
	return fmt.Sprintf("gemm_%dx%dx%d_%dx%d_s%d_h%d_u%d", g.BM, g.BN, g.BK, g.RM, g.RN, g.Slices, g.Held, g.Unroll)
}

// cut is how many warps lie down and across a tile, and how many threads of a
// warp lie down.
func (g Shape) cut() (warpsDown, warpsAcross, down int, err error) {
	g = g.full()
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("ops: %s: %w: "+format, append([]any{g.Name(), gpu.ErrArgument}, args...)...)
	}
	if min(g.BM, g.BN, g.BK, g.RM, g.RN, g.Slices, g.Unroll) < 1 || g.Held < 2 || g.RM%4 != 0 || g.RN%4 != 0 || g.BK%4 != 0 {
		return 0, 0, 0, refuse("expected positive numbers, rm, rn and bk multiples of 4, and at least 2 steps held")
	}
	for _, down := range []int{8, 4} {
		rows, columns := down*g.RM, 32/down*g.RN // of a warp
		if g.BM%rows == 0 && g.BN%columns == 0 {
			warpsDown, warpsAcross = g.BM/rows, g.BN/columns
			threads := 32 * warpsDown * warpsAcross * g.Slices
			aThreads, bThreads := g.BK/4, g.BN/4
			switch {
			case threads > 1024:
				return 0, 0, 0, refuse("%d threads per block, expected at most 1024", threads)
			case g.Slices&(g.Slices-1) != 0 || g.BK%(g.Slices*g.Unroll) != 0 || g.Unroll%2 != 0:
				return 0, 0, 0, refuse("expected slices that are a power of 2, and bk a multiple of slices x unroll, which is even")
			case threads%aThreads != 0 || g.BM%(threads/aThreads) != 0 || threads%bThreads != 0 || g.BK%(threads/bThreads) != 0:
				return 0, 0, 0, refuse("%d threads cannot share the copies of a step evenly", threads)
			}
			return warpsDown, warpsAcross, down, nil
		}
	}
	return 0, 0, 0, refuse("no warp of 8 x 4 or 4 x 8 threads fits the tile, expected bm a multiple of 4 rm and bn of 8 rn, or of 8 rm and 4 rn")
}

// Block is the number of threads of a block, and its bytes of shared memory.
func (g Shape) Block() (threads, bytes int, err error) {
	g = g.full()
	warpsDown, warpsAcross, _, err := g.cut()
	steps := g.Held * g.BK * (g.BM + 4 + g.BN)
	sums := g.Slices / 2 * g.BM * g.BN // of slices, which are added at the end
	return 32 * warpsDown * warpsAcross * g.Slices, 4 * max(steps, sums), err
}

// entry is the CUDA C++ of the shape's rung.
func (g Shape) entry(warpsDown, warpsAcross, down int) string {
	g = g.full()
	shape := fmt.Sprintf("Shape<%d, %d, %d, %d, %d, %d, %d, %d, %d>", warpsDown, warpsAcross, g.Slices, down, g.RM, g.RN, g.BK, g.Held, g.Unroll)
	return fmt.Sprintf("\nextern \"C\" __global__ void __launch_bounds__(%s::threads) %s(MATRICES) {\n    wide<%s>(PROBLEM);\n}\n", shape, g.Name(), shape)
}

// Sweep returns a ladder of one rung for each shape, after gemm_wide, to be
// checked, counted, timed and plotted as others are. NVRTC compiles them: where
// it is missing, or a shape cannot be, the error says so.
func Sweep(ctx context.Context, shapes ...Shape) (*ladder.Operator, error) {
	var source strings.Builder
	for _, header := range []string{"gemm_problem.cuh", "gemm_async.cuh", "gemm_wide.cuh"} {
		text, err := Operator.ReadSource(header)
		if err != nil {
			return nil, err
		}
		source.WriteString(text)
	}
	for _, g := range shapes {
		warpsDown, warpsAcross, down, err := g.cut()
		if err != nil {
			return nil, err
		}
		source.WriteString(g.entry(warpsDown, warpsAcross, down))
	}
	module, err := compile.CUDA(ctx, "gemm_sweep.cu", source.String(), compile.Options{Arch: "sm_80"})
	if err != nil {
		return nil, fmt.Errorf("ops: gemm: sweep: %w", err)
	}
	options := Options{Alpha: 1}
	var rungs []ladder.Rung
	for _, g := range shapes {
		entry, err := module.Entry(g.Name())
		if err != nil {
			return nil, fmt.Errorf("ops: gemm: sweep: %w", err)
		}
		threads, bytes, err := g.Block()
		if err != nil {
			return nil, err
		}
		rungs = append(rungs, ladder.Rung{Entry: entry, Adds: "another shape", Plan: options.staged(g.BM, g.BN, threads, bytes)})
	}
	return Operator.With(rungs...)
}
