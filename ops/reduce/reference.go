package reduce

import (
	"math"

	"warpbook/ops/ladder"
)

// sum adds in float64 with Neumaier's compensation, so that its own error does
// not count beside that of float32. Infinities and NaN are added apart: they
// alone then decide the value, as they do in any order of summation.
func sum(stop ladder.Stop, x []float32) (value, magnitude float64) {
	var total, lost, special float64
	for ; len(x) > 0 && !stop.Now(); x = x[min(ladder.Piece, len(x)):] {
		for _, v32 := range x[:min(ladder.Piece, len(x))] {
			v := float64(v32)
			if v-v != 0 { // Inf or NaN
				special += v
				continue
			}
			next := total + v
			if math.Abs(total) >= math.Abs(v) {
				lost += (total - next) + v
			} else {
				lost += (v - next) + total
			}
			total = next
			magnitude += math.Abs(v)
		}
	}
	return total + lost + special, magnitude
}

// sumSerial adds in float32 from the first element to the last: one core, one
// accumulator, as bound by the latency of an addition as reduce_serial is.
func sumSerial(stop ladder.Stop, x []float32) float32 {
	var total float32
	for ; len(x) > 0 && !stop.Now(); x = x[min(ladder.Piece, len(x)):] {
		for _, v := range x[:min(ladder.Piece, len(x))] {
			total += v
		}
	}
	return total
}

func reference(stop ladder.Stop, _ ladder.Size, inputs []ladder.Values) []ladder.Expected {
	value, magnitude := sum(stop, inputs[0].([]float32))
	return []ladder.Expected{{Value: []float64{value}, Magnitude: []float64{magnitude}}}
}

// stuck expects of a float32 sum from first to last that it stops at 2^24: a
// number in [0, 1) changes it no more. Their mean is 1/2, so that the error
// passes 1e-3 at 2^25 elements and a thousandth more; within some 8000 elements
// of there chance decides.
func stuck(s ladder.Size) string {
	const full = 1 << 25
	if s[0] > full+full/1000 {
		return ladder.CheckTolerance
	}
	return ""
}

func inOrder(stop ladder.Stop, _ ladder.Size, inputs, outputs []ladder.Values) {
	outputs[0].([]float32)[0] = sumSerial(stop, inputs[0].([]float32))
}
