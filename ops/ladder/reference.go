package ladder

import (
	"math/rand/v2"
)

// Expected is the reference of one output: for a rounded sum the values in float64, and
// for each the sum of the absolute values of its finite terms, which error bounds
// are in proportion to; for ULP the values alone; or the very elements.
type Expected struct {
	Value     []float64
	Magnitude []float64 // or Gap
	Terms     []int32   // of each sum: no order rounds more often; nil where the plan's depth bounds them all
	Exact     Values    // in place of both: of the tensor's Go type
}

// Length is the number of elements that the output must have.
func (e Expected) Length() int {
	if e.Exact != nil {
		return Length(e.Exact)
	}
	return len(e.Value)
}

// Gap in place of a magnitude is an element that no rung may write: the
// rest of a row up to the next.
const Gap = -1

// Uniform returns n random numbers in [0, 1). They are not centred on 0: a sum
// near 0 would hide a result that is doubled or half missing.
func Uniform(stop Stop, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = random.Float32()
		}
	})
	return x
}

// Integers returns n small integers whose absolute values add to at most 2^24,
// so that float32 sums of them are exact in every order.
func Integers(stop Stop, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	left := 1 << 24
	stop.Pieces(n, func(from, to int) {
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

// NewRandom is the generator of a seed.
func NewRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
