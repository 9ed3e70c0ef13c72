package scan

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Inclusive is the running sum of a vector: y[i] = x[0] + ... + x[i].
//
// Shapes: x, y (n), which share no element. Types: float32, int32 or uint64, the same for
// both. Error: that of Operator of this package; integers wrap.
func Inclusive(h ladder.Runner, x, y gpu.Buffer) error { return of(h, false, x, y) }

// Exclusive is the running sum before each element: y[i] = x[0] + ... + x[i-1], y[0] = 0.
// Otherwise it is Inclusive.
func Exclusive(h ladder.Runner, x, y gpu.Buffer) error { return of(h, true, x, y) }

func of(h ladder.Runner, exclusive bool, x, y gpu.Buffer) error {
	t := gpu.Float32
	if x != nil {
		t = x.Type()
	}
	o, err := Of(t, exclusive)
	if err != nil {
		return err
	}
	return ladder.Call(h, o, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"x": x, "y": y})
}

// InclusiveByKey is the running sum of each segment of equal keys: y[i] = x[i], plus y[i-1]
// where key[i] = key[i-1].
//
// Shapes: key, x, y (n). Types: key int32, x and y float32. Error: that of ByKey.
func InclusiveByKey(h ladder.Runner, key, x, y gpu.Buffer) error {
	return ladder.Call(h, ByKey, ladder.Size{ladder.Elements(x)}, map[string]gpu.Buffer{"key": key, "x": x, "y": y})
}

// InclusiveRows is the running sum of each row of a matrix: y[r][c] = x[r][0] + ... + x[r][c].
//
// Shapes: x, y (rows, columns), row-major and dense. Types: float32. Error: that of Rows.
func InclusiveRows(h ladder.Runner, rows, columns int, x, y gpu.Buffer) error {
	return ladder.Call(h, Rows, ladder.Size{rows, columns}, map[string]gpu.Buffer{"x": x, "y": y})
}
