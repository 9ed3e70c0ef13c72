package arith

import (
	"math"
	"math/rand/v2"
	"testing"

	"warpbook/gpu/ptx"
)

// TestFP8 compares Encode with a search over all codes, and Decode with the tables of
// the format's definition.
func TestFP8(t *testing.T) {
	for _, c := range []struct {
		of   string
		code byte
		want float64
	}{
		{"e4m3x2", 0x7e, 448}, {"e4m3x2", 0x01, 1. / 512}, {"e4m3x2", 0x08, 1. / 64}, {"e4m3x2", 0x38, 1}, {"e4m3x2", 0xb8, -1}, {"e4m3x2", 0x7f, math.NaN()},
		{"e5m2x2", 0x7b, 57344}, {"e5m2x2", 0x01, 1. / 65536}, {"e5m2x2", 0x04, 1. / 16384}, {"e5m2x2", 0x3c, 1}, {"e5m2x2", 0x7c, math.Inf(1)}, {"e5m2x2", 0x7d, math.NaN()},
	} {
		if got := FP8s[ptx.Type(c.of)].Decode(c.code); got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%s %#02x is %v, expected %v", c.of, c.code, got, c.want)
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	for name, f := range FP8s {
		nearest := func(v float64) byte {
			best, code := math.Inf(1), byte(0)
			for c := range byte(0x7f) {
				d := math.Abs(f.Decode(c) - math.Abs(v))
				if math.IsInf(f.Decode(c), 0) || d != d || d > best || d == best && c&1 != 0 {
					continue
				}
				best, code = d, c
			}
			return code | byte(math.Float64bits(v)>>63<<7)
		}
		check := func(v float64) {
			if got, want := f.Encode(v, false), nearest(v); got != want {
				t.Errorf("%s: %v is %#02x, expected %#02x (seed %d)", name, v, got, want, seed)
			}
		}
		for c := range 256 {
			if v := f.Decode(byte(c)); v == v && !math.IsInf(v, 0) {
				check(v)
				check(math.Nextafter(v, 1e9))
				if middle := (v + f.Decode(byte(c)^1)) / 2; middle == middle && !math.IsInf(middle, 0) {
					check(middle)
				}
			}
		}
		for range 20_000 {
			check(math.Ldexp(random.Float64()*2-1, random.IntN(40)-22))
		}
		if f.Encode(math.Inf(-1), false) != f.Encode(-f.most, false) || f.Encode(math.NaN(), true) != 0x7f || f.Encode(-3, true) != 0 {
			t.Errorf("%s: infinity, NaN or relu", name)
		}
	}
}
