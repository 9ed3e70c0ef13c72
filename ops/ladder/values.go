package ladder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"

	"warpbook/gpu"
)

// Values are the elements of a tensor on the host, a slice of the Go type of its
// element type: []int32 of Int32, []uint8 of Uint8, and so on. Floats of 16 bits
// are []float32 there: values are rounded to the type before the upload, and widened
// after the download. Packed bits are the words that hold them, Uint32 or Uint64;
// keys with values are two tensors.
type Values = any

// Slices are values that all have one Go type, such as the inputs of an operator on
// float32. Another type is a mistake of the operator, and panics.
func Slices[T any](values []Values) [][]T {
	all := make([][]T, len(values))
	for i, v := range values {
		all[i] = v.([]T)
	}
	return all
}

// All are slices of one Go type as values: the other way from Slices.
func All[T any](slices ...[]T) []Values {
	all := make([]Values, len(slices))
	for i, v := range slices {
		all[i] = v
	}
	return all
}

// element are the Go types of elements.
type element interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// class is the operations on values of one Go type.
type class interface {
	make(n int) Values
	poisoned(n int) Values
	length(v Values) int
	cut(v Values, n int) Values
	clone(v Values) Values
	random(stop Stop, n int, low, high float64, random *rand.Rand) Values
	choose(v Values, pick func(i int) int) Values // element i is element pick(i) of v
	sort(v Values)
	text(v Values, i int) string

	// These are asked once for many elements.
	number(v Values) func(i int) float64
	same(a, b Values) func(i int) bool           // bit for bit; all NaN are one
	untouched(got, want Values) func(i int) bool // as before the run
	complement(v Values) Values
}

// classOf is that of a slice; nil for one of another type.
func classOf(v Values) class {
	switch v.(type) {
	case []int8:
		return whole[int8]{}
	case []uint8:
		return whole[uint8]{}
	case []int16:
		return whole[int16]{}
	case []uint16:
		return whole[uint16]{}
	case []int32:
		return whole[int32]{}
	case []uint32:
		return whole[uint32]{}
	case []int64:
		return whole[int64]{}
	case []uint64:
		return whole[uint64]{}
	case []float32:
		return floats32{}
	case []float64:
		return floats64{}
	}
	return nil
}

// class is that of the tensor's values.
func (t Tensor) class() class {
	switch t.Elements() {
	case gpu.Int8:
		return whole[int8]{}
	case gpu.Uint8:
		return whole[uint8]{}
	case gpu.Int16:
		return whole[int16]{}
	case gpu.Uint16:
		return whole[uint16]{}
	case gpu.Int32:
		return whole[int32]{}
	case gpu.Uint32:
		return whole[uint32]{}
	case gpu.Int64:
		return whole[int64]{}
	case gpu.Uint64:
		return whole[uint64]{}
	case gpu.Float64:
		return floats64{}
	}
	return floats32{} // of 16 bits, too
}

// plain holds the methods without arithmetic.
type plain[T element] struct{}

func (plain[T]) make(n int) Values          { return make([]T, n) }
func (plain[T]) length(v Values) int        { return len(v.([]T)) }
func (plain[T]) cut(v Values, n int) Values { return v.([]T)[:n] }
func (plain[T]) clone(v Values) Values      { return slices.Clone(v.([]T)) }
func (plain[T]) number(v Values) func(int) float64 {
	x := v.([]T)
	return func(i int) float64 { return float64(x[i]) }
}
func (plain[T]) text(v Values, i int) string { return fmt.Sprint(v.([]T)[i]) }
func (plain[T]) sort(v Values)               { slices.Sort(v.([]T)) }

func (plain[T]) choose(v Values, pick func(i int) int) Values {
	from := v.([]T)
	to := make([]T, len(from))
	for i := range to {
		to[i] = from[pick(i)]
	}
	return to
}

// whole are the integers of one Go type. Memory that was not written shows as a
// pattern, or as the complement of what had to be written.
type whole[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64] struct{ plain[T] }

func (whole[T]) poisoned(n int) Values {
	pattern := uint64(0x5eed_5eed_5eed_5eed)
	x := make([]T, n)
	Stop(nil).Parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = T(pattern)
		}
	})
	return x
}

func (whole[T]) random(stop Stop, n int, low, high float64, random *rand.Rand) Values {
	x := make([]T, n)
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			if low == high {
				x[i] = T(random.Uint64())
			} else {
				x[i] = T(int64(low)) + T(random.Uint64N(uint64(high-low)))
			}
		}
	})
	return x
}

func (whole[T]) same(a, b Values) func(int) bool {
	x, y := a.([]T), b.([]T)
	return func(i int) bool { return x[i] == y[i] }
}

func (whole[T]) untouched(got, want Values) func(int) bool {
	x, y := got.([]T), want.([]T)
	return func(i int) bool { return x[i] == ^y[i] }
}

func (whole[T]) complement(v Values) Values {
	old := v.([]T)
	x := make([]T, len(old))
	Stop(nil).Parallel(len(x), func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = ^old[i]
		}
	})
	return x
}

type floats32 struct{ plain[float32] }

func (floats32) text(v Values, i int) string {
	return strconv.FormatFloat(float64(v.([]float32)[i]), 'g', -1, 32)
}

func (floats32) sort(v Values) { sortFloats(v.([]float32)) }

// sortFloats sorts NaN to the start, and -0 before 0: slices.Sort leaves these two in any
// order.
func sortFloats[T float32 | float64](x []T) {
	slices.Sort(x)
	first, _ := slices.BinarySearch(x, 0)
	end, negative := first, 0
	for ; end < len(x) && x[end] == 0; end++ {
		if math.Signbit(float64(x[end])) {
			negative++
		}
	}
	for i := range x[first:end] {
		if x[first+i] = 0; i < negative {
			x[first+i] = T(math.Copysign(0, -1))
		}
	}
}

func (floats32) poisoned(n int) Values { return Poisoned(n) }

func (floats32) random(stop Stop, n int, low, high float64, random *rand.Rand) Values {
	x := Uniform(stop, n, random)
	if low != 0 || high != 0 {
		for i, v := range x {
			x[i] = float32(low) + v*(float32(high)-float32(low))
		}
	}
	return x
}

func (floats32) same(a, b Values) func(int) bool {
	x, y := a.([]float32), b.([]float32)
	return func(i int) bool {
		return math.Float32bits(x[i]) == math.Float32bits(y[i]) || x[i] != x[i] && y[i] != y[i]
	}
}

func (floats32) untouched(got, _ Values) func(int) bool {
	x := got.([]float32)
	return func(i int) bool { return math.Float32bits(x[i]) == math.Float32bits(Poison) }
}

func (floats32) complement(v Values) Values { return Poisoned(len(v.([]float32))) }

type floats64 struct{ plain[float64] }

// poison64 is a quiet NaN with a payload that no arithmetic produces.
const poison64 = 0x7ff8_5eed_5eed_5eed

func (floats64) sort(v Values) { sortFloats(v.([]float64)) }

func (floats64) poisoned(n int) Values {
	return slices.Repeat([]float64{math.Float64frombits(poison64)}, n)
}

func (floats64) random(stop Stop, n int, low, high float64, random *rand.Rand) Values {
	x := make([]float64, n)
	if low == 0 && high == 0 {
		high = 1
	}
	stop.Pieces(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = low + random.Float64()*(high-low)
		}
	})
	return x
}

func (floats64) same(a, b Values) func(int) bool {
	x, y := a.([]float64), b.([]float64)
	return func(i int) bool {
		return math.Float64bits(x[i]) == math.Float64bits(y[i]) || x[i] != x[i] && y[i] != y[i]
	}
}

func (floats64) untouched(got, _ Values) func(int) bool {
	x := got.([]float64)
	return func(i int) bool { return math.Float64bits(x[i]) == poison64 }
}

func (c floats64) complement(v Values) Values { return c.poisoned(len(v.([]float64))) }

// Length is the number of elements.
func Length(v Values) int {
	if c := classOf(v); c != nil {
		return c.length(v)
	}
	return 0
}

// Clone is a copy of values.
func Clone(v Values) Values { return classOf(v).clone(v) }

// CloneAll is a copy of several.
func CloneAll(all []Values) []Values {
	copies := make([]Values, len(all))
	for i, v := range all {
		copies[i] = Clone(v)
	}
	return copies
}

// SameBits reports whether two slices hold the same bit patterns; all NaN count as
// one, because their payloads depend on the device.
func SameBits(a, b Values) bool {
	c := classOf(a)
	if c == nil || c != classOf(b) || c.length(a) != c.length(b) {
		return false
	}
	same := c.same(a, b)
	x, _ := a.([]float32)
	y, _ := b.([]float32)
	var differ atomic.Bool
	Stop(differ.Load).Parallel(c.length(a), func(from, to int) {
		for i := from; i < to; i++ {
			if x != nil && math.Float32bits(x[i]) == math.Float32bits(y[i]) {
				continue // without a call: an input may have many elements
			}
			if !same(i) {
				differ.Store(true)
				return
			}
		}
	})
	return !differ.Load()
}
