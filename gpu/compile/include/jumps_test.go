package include

import (
	"math/big"
	"regexp"
	"strconv"
	"testing"
)

// characteristic is the polynomial of a step of XORWOW, found by the algorithm of Berlekamp and
// Massey from the lowest bit of its numbers.
func characteristic(t *testing.T) *big.Int {
	v := [5]uint32{123456789, 362436069, 521288629, 88675123, 5783321}
	var bits []uint
	for range 400 {
		bits = append(bits, uint(v[0]&1))
		x := v[0] ^ v[0]>>2
		x ^= x << 1
		v = [5]uint32{v[1], v[2], v[3], v[4], v[4] ^ v[4]<<4 ^ x}
	}
	c, b := big.NewInt(1), big.NewInt(1)
	length, since := 0, uint(1)
	for n := range bits {
		d := bits[n]
		for i := 1; i <= length; i++ {
			d ^= c.Bit(i) & bits[n-i]
		}
		if d == 0 {
			since++
			continue
		}
		before := new(big.Int).Set(c)
		c.Xor(c, new(big.Int).Lsh(b, since))
		if 2*length <= n {
			length, b, since = n+1-length, before, 1
		} else {
			since++
		}
	}
	if length != 160 {
		t.Fatalf("a polynomial of degree %d, expected 160", length)
	}
	p := new(big.Int)
	for i := range 161 {
		p.SetBit(p, 160-i, c.Bit(i))
	}
	return p
}

// squared is the square of a polynomial over bits, modulo another.
func squared(a, modulus *big.Int) *big.Int {
	s := new(big.Int)
	for i := range 160 {
		s.SetBit(s, 2*i, a.Bit(i))
	}
	for i := 319; i >= 160; i-- {
		if s.Bit(i) == 1 {
			s.Xor(s, new(big.Int).Lsh(modulus, uint(i-160)))
		}
	}
	return s
}

// TestJumps: row k of the table of cuRAND's default generator jumps over 2^k steps.
func TestJumps(t *testing.T) {
	words := regexp.MustCompile(`0x([0-9a-f]{8})u`).FindAllStringSubmatch(Texts()["warpbook/xorwow.h"], -1)
	if len(words) != 131*5 {
		t.Fatalf("%d words, expected 131 rows of 5", len(words))
	}
	modulus, want := characteristic(t), big.NewInt(2)
	for k := range 131 {
		got := new(big.Int)
		for j := 4; j >= 0; j-- {
			word, err := strconv.ParseUint(words[5*k+j][1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			got.Or(got.Lsh(got, 32), new(big.Int).SetUint64(word))
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("row %d is %x, expected %x", k, got, want)
		}
		want = squared(want, modulus)
	}
}
