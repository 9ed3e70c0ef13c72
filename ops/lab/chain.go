package lab

import "math/rand/v2"

// Ring is a permutation of so many words with one cycle, in random order, through one word
// of each stride: next[i] is the word after i. A chain of loads that follows it overlaps
// nothing, since each address is what the load before brought.
func Ring(words, stride int, random *rand.Rand) (next []uint32) {
	next = make([]uint32, words)
	at := uint32(0)
	for _, i := range random.Perm(words/stride - 1) {
		next[at] = uint32((i + 1) * stride)
		at = next[at]
	}
	return next // the last points at 0
}

// Follow is the word after so many steps from word 0.
func Follow(next []uint32, steps int) (at uint32) {
	for range steps {
		at = next[at]
	}
	return at
}
