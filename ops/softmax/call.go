package softmax

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Of is the softmax of each row of a matrix. y[r][c] is e^x[r][c] in shares of its row's sum.
//
// Shapes: x, y (rows, columns), row-major and dense; they share no element. Types: float32.
// Error, and rows with NaN and infinity: those of Operator of this package.
func Of(h ladder.Runner, rows, columns int, x, y gpu.Buffer) error {
	return ladder.Call(h, Operator, ladder.Size{rows, columns}, map[string]gpu.Buffer{"x": x, "y": y})
}

// LogOf is the logarithm of the softmax of each row. Otherwise it is Of; Log has its error.
func LogOf(h ladder.Runner, rows, columns int, x, y gpu.Buffer) error {
	return ladder.Call(h, Log, ladder.Size{rows, columns}, map[string]gpu.Buffer{"x": x, "y": y})
}

// MaskedOf is the softmax of each row's elements whose mask, of uint8, is not 0; the others
// get 0. Otherwise it is Of; Masked says what a row without elements is.
func MaskedOf(h ladder.Runner, rows, columns int, x, mask, y gpu.Buffer) error {
	return ladder.Call(h, Masked, ladder.Size{rows, columns}, map[string]gpu.Buffer{"x": x, "mask": mask, "y": y})
}
