package gemm

import (
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The loops on the host end when they are stopped.
func TestStopEndsLoops(t *testing.T) {
	matrices := ladder.All(make([]float32, 1024*8), make([]float32, 8*1024), make([]float32, 1024))
	size := ladder.Size{1024, 1024, 8}
	optest.Stops(t, "reference", func(stop ladder.Stop) { Operator.Reference(stop, size, matrices) })
	optest.Stops(t, "exact", func(stop ladder.Stop) { Operator.Exact(stop, ladder.Size{20 * ladder.Piece, 1, 1}, 1) })
	optest.Stops(t, "host", func(stop ladder.Stop) {
		optest.Host(t, Operator)(stop, size, matrices, ladder.All(make([]float32, 1024*1024)))
	})
	optest.Stops(t, "batch", func(stop ladder.Stop) { Batched.Reference(stop, ladder.Size{1024, 1, 1, 1}, matrices) })
	optest.Stops(t, "bias and ReLU", func(stop ladder.Stop) { BiasReLU.Reference(stop, size, matrices) })
}
