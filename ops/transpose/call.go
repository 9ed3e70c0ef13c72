package transpose

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Matrix transposes a matrix: b[c][r] = a[r][c].
//
// Shapes: a (rows, columns), b (columns, rows), row-major and dense; they share no element.
// Types: float32. Error: none.
func Matrix(h ladder.Runner, rows, columns int, a, b gpu.Buffer) error {
	return ladder.Call(h, Operator, ladder.Size{rows, columns}, map[string]gpu.Buffer{"a": a, "b": b})
}
