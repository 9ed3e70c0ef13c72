package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/ops/ladder"
)

// Sums are experiments with entries (x, y, n) that add up the first n elements of one
// random vector: counted on an emulator, timed on a GPU, and verified on both.
type Sums struct {
	Dev, Emulator gpu.Device
	X             []float32
	Few           int        // elements that the emulator counts
	Counts        gpu.Buffer // the first Few elements, on the emulator
	Times         gpu.Buffer // all of them, on the GPU

	seed  uint64
	sum64 map[int]float64 // of the first elements, in float64
}

// NewSums makes a vector of uniform numbers of which an emulator counts the first few.
func NewSums(dev, emulator gpu.Device, n, few int, seed uint64, random *rand.Rand) *Sums {
	s := &Sums{Dev: dev, Emulator: emulator, X: ladder.Uniform(nil, n, random), Few: few, seed: seed, sum64: map[int]float64{}}
	s.Counts = Buffer(emulator, gpu.Float32, few, s.X[:few])
	s.Times = s.Counts
	if !dev.Info().Emulated {
		s.Times = Buffer(dev, gpu.Float32, n, s.X)
	}
	return s
}

// Of is the sum of the first elements, in float64.
func (s *Sums) Of(length int) float64 {
	if _, known := s.sum64[length]; !known {
		sum := 0.0
		for _, v := range s.X[:length] {
			sum += float64(v)
		}
		s.sum64[length] = sum
	}
	return s.sum64[length]
}

// PerThread is the longest path of additions of a sum by so many threads and a tree.
func PerThread(length, threads int) int { return length/threads + 40 }

// Near reports whether a float32 sum of the first elements is right, after so many
// additions on its longest path: each rounds by 2^-24.
func (s *Sums) Near(sum float64, length, additions int) bool {
	return math.Abs(sum-s.Of(length)) <= min(1e-3, float64(additions)*0x1p-24)*s.Of(length)
}

// Measured times launches of an entry on the GPU: the median in us, and how many launches
// there were. A launch of more than 50 ms is timed three times, a shorter one 21 times.
// With flush other memory is read through L2 before each.
func (s *Sums) Measured(flush bool, e *compile.Entry, grid, block int, args ...any) (us float64, launches int) {
	g, b := gpu.Dim{X: grid}, gpu.Dim{X: block}
	t := gpu.Timing{Warmup: 3, Repeats: 21, Flush: flush}
	if Median(s.Dev, gpu.Timing{Repeats: 1, Flush: flush}, e, g, b, args...) > 50*time.Millisecond {
		t.Warmup, t.Repeats = 0, 3
	}
	return 1e-3 * float64(Median(s.Dev, t, e, g, b, args...)), 1 + t.Warmup + t.Repeats
}

// Verify compares what timed launches left in y with the sum of the first elements: the
// elements of y add to that sum, or to that of all launches where they accumulate.
func (s *Sums) Verify(name string, y gpu.Buffer, length, additions, launches int) {
	sum := 0.0
	for _, v := range Float32s(y) {
		sum += float64(v)
	}
	if !s.Near(sum/float64(launches), length, additions) {
		panic(fmt.Sprintf("%s on %v: the timed launches left %v, expected %v (seed %d)", name, s.Dev.Info(), sum/float64(launches), s.Of(length), s.seed))
	}
}

// Unset is so many NaN, which no launch may leave.
func Unset(length int) []float32 {
	y := make([]float32, length)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	return y
}

// Timed is the time in us of a sum of the first elements into so many parts on a GPU, as a
// table shows it. The result of the timed launches is verified.
func (s *Sums) Timed(e *compile.Entry, grid, block, length, parts int) any {
	if s.Dev.Info().Emulated {
		return NeedsGPU
	}
	y := Buffer(s.Dev, gpu.Float32, parts, Unset(parts))
	defer y.Free()
	us, _ := s.Measured(false, e, grid, block, s.Times, y, uint32(length))
	s.Verify(e.Name(), y, length, PerThread(length, grid*block), 1)
	return us
}

// Methods says of which work the counts and the times of a table are.
func (s *Sums) Methods(counts, times any) string {
	if s.Dev.Info().Emulated {
		return fmt.Sprintf("counts of %v on %v, results verified", counts, s.Emulator.Info())
	}
	return fmt.Sprintf("counts of %v on %v; times of %v on %v; the results of both verified", counts, s.Emulator.Info(), times, s.Dev.Info())
}
