package copyif

import "warpbook/ops/ladder"

func reference(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
	x := inputs[0].([]float32)
	var kept []float32
	stop.Pieces(len(x), func(from, to int) { kept = appendKept(kept, x[from:to]) })
	if kept == nil {
		kept = []float32{}
	}
	return []ladder.Expected{{Exact: kept}, {Exact: []uint32{uint32(len(kept))}}}
}

// appendKept appends the elements above 0.
func appendKept(kept, x []float32) []float32 {
	for _, v := range x {
		if v > 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

// onHost is filter of the notes, in compiled Go on one core.
func onHost(stop ladder.Stop, _ ladder.Size, inputs, outputs []ladder.Values) {
	x, y, count := inputs[0].([]float32), outputs[0].([]float32), uint32(0)
	stop.Pieces(len(x), func(from, to int) {
		for _, v := range x[from:to] {
			if v > 0 {
				if int(count) < len(y) {
					y[count] = v
				}
				count++
			}
		}
	})
	outputs[1].([]uint32)[0] = count
}
