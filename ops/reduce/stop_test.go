package reduce

import (
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The loops on the host end when they are stopped.
func TestStopEndsLoops(t *testing.T) {
	const n = 20 * ladder.Piece
	x := ladder.All(make([]float32, n))
	optest.Stops(t, "reference", func(stop ladder.Stop) { Operator.Reference(stop, ladder.Size{n}, x) })
	optest.Stops(t, "exact", func(stop ladder.Stop) { Operator.Exact(stop, ladder.Size{n}, 1) })
	optest.Stops(t, "host", func(stop ladder.Stop) {
		optest.Host(t, Operator)(stop, ladder.Size{n}, x, ladder.All([]float32{0}))
	})
}
