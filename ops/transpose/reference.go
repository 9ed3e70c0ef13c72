package transpose

import "warpbook/ops/ladder"

// reference transposes in tiles that stay in the processor's cache.
func reference(stop ladder.Stop, size ladder.Size, inputs []ladder.Values) []ladder.Expected {
	const edge = 64
	rows, columns := size[0], size[1]
	a, b := inputs[0].([]float32), make([]float32, rows*columns)
	for r0 := 0; r0 < rows && !stop.Now(); r0 += edge {
		for c0 := 0; c0 < columns; c0 += edge {
			for r := r0; r < min(r0+edge, rows); r++ {
				for c := c0; c < min(c0+edge, columns); c++ {
					b[c*rows+r] = a[r*columns+c]
				}
			}
		}
	}
	return []ladder.Expected{{Exact: b}}
}
