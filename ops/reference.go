package ops

import (
	"math"
	"math/rand/v2"
)

// Expected is what one output must be: the values in float64, and for each the
// sum of the absolute values of its finite terms, which error bounds are in
// proportion to.
type Expected struct {
	Value     []float64
	Magnitude []float64 // or gap
}

// gap in place of a magnitude is an element that no variant may write: the
// rest of a row up to the next.
const gap = -1

// sum adds in float64 with Neumaier's compensation, so that its own error does
// not count beside that of float32. Infinities and NaN are added apart: they
// alone then decide the value, as they do in any order of summation.
func sum(stop Stop, x []float32) (value, magnitude float64) {
	var total, lost, special float64
	for ; len(x) > 0 && !stop.now(); x = x[min(piece, len(x)):] {
		for _, v32 := range x[:min(piece, len(x))] {
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
func sumSerial(stop Stop, x []float32) float32 {
	var total float32
	for ; len(x) > 0 && !stop.now(); x = x[min(piece, len(x)):] {
		for _, v := range x[:min(piece, len(x))] {
			total += v
		}
	}
	return total
}

// uniform returns n random numbers in [0, 1). They are not centred on 0: a sum
// near 0 would hide a result that is doubled or half missing.
func uniform(stop Stop, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	stop.pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = random.Float32()
		}
	})
	return x
}

// integers returns n small integers whose absolute values add to at most 2^24,
// so that float32 sums of them are exact in every order.
func integers(stop Stop, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	left := 1 << 24
	stop.pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			most := min(15, 2*left/(n-i)) // the mean of 0..most uses up what is left
			v := min(random.IntN(most+1), left)
			left -= v
			if random.IntN(4) == 0 {
				v = -v
			}
			x[i] = float32(v)
		}
	})
	return x
}

// newRandom is the generator of a seed.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
