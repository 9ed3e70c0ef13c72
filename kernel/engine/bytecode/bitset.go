package bytecode

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (s bitset) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s bitset) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s bitset) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s bitset) or(t bitset) (changed bool) {
	for i, x := range t {
		if s[i]|x != s[i] {
			s[i], changed = s[i]|x, true
		}
	}
	return changed
}

// all calls f with each member.
func (s bitset) all(f func(i int)) {
	for w, x := range s {
		for ; x != 0; x &= x - 1 {
			f(w*64 + bits.TrailingZeros64(x))
		}
	}
}
