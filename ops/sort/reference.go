package sort

import (
	"slices"
	"warpbook/ops/ladder"
)

// places are the places in the input of the sorted keys. Equal keys keep their order: it
// sorts by one byte after the other, the lowest first.
func places(stop ladder.Stop, keys ladder.Values) []int {
	n, code := ladder.Length(keys), code(keys)
	from, to := make([]int, n), make([]int, n)
	for i := range from {
		from[i] = i
	}
	for shift := 0; shift < 64; shift += 8 {
		var next [257]int // the place of the next key with a byte
		stop.Pieces(n, func(first, last int) {
			for i := first; i < last; i++ {
				next[code(i)>>shift&255+1]++
			}
		})
		if slices.Contains(next[:], n) { // all have the same byte
			continue
		}
		for digit := range 256 {
			next[digit+1] += next[digit]
		}
		stop.Pieces(n, func(first, last int) {
			for _, place := range from[first:last] {
				digit := code(place) >> shift & 255
				to[next[digit]] = place
				next[digit]++
			}
		})
		from, to = to, from
	}
	return from
}

// picked are the elements at some places, in their order.
func picked(v ladder.Values, at []int) ladder.Values {
	switch x := v.(type) {
	case []uint32:
		return elements(x, at)
	case []int32:
		return elements(x, at)
	case []float32:
		return elements(x, at)
	}
	return elements(v.([]uint64), at)
}
