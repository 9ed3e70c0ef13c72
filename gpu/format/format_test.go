package format

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestFloat32: rounding to float32 is Go's conversion, for random numbers of all sizes.
func TestFloat32(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for range 100_000 {
		v := math.Ldexp(2*random.Float64()-1, random.IntN(320)-170)
		want := float32(v)
		rounded, word := Float32.Round(v)
		if word != math.Float32bits(want) || rounded != float64(want) {
			t.Fatalf("%v (seed %d): %v, bits %#x, expected %v, bits %#x", v, seed, rounded, word, want, math.Float32bits(want))
		}
	}
}

// TestEdges: the ends of the formats, halves between neighbours, zeros and infinities.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		f       Format
		v       float64
		rounded float64
		word    uint32
	}{
		{Float16, 65519, 65504, 0x7bff},
		{Float16, 65520, math.Inf(1), 0x7c00},
		{Float16, 0x1p-24, 0x1p-24, 1},
		{Float16, 0x1p-25, 0, 0},         // half of the smallest, to even
		{Float16, 0x1.8p-24, 0x1p-23, 2}, // half, to even
		{BFloat16, -1, -1, 0xbf80},
		{BFloat16, 1 + 0x1p-8, 1, 0x3f80},         // half, to even
		{TF32, 1 + 0x1p-11, 1 + 0x1p-10, 0x1fc01}, // half, away from zero
		{E5M2, 61440, math.Inf(1), 0x7c},          // half way to infinity
		{E4M3, 448, 448, 0x7e},
		{E4M3, math.Copysign(0, -1), math.Copysign(0, -1), 0x80},
	} {
		rounded, word := c.f.Round(c.v)
		if rounded != c.rounded || math.Signbit(rounded) != math.Signbit(c.rounded) || word != c.word {
			t.Errorf("%s of %v: %v, bits %#x, expected %v, bits %#x", c.f.Name, c.v, rounded, word, c.rounded, c.word)
		}
	}
	for f, want := range map[Format]uint32{E5M2: 0x7b, E4M3: 0x7e} {
		if got := f.Saturate(1e5); got != want {
			t.Errorf("%s saturates to %#x, expected %#x", f.Name, got, want)
		}
	}
}

// TestPicture: 1/3 in float16 is 0 01101 0101010101, and bits that a format lacks are empty.
func TestPicture(t *testing.T) {
	_, rows, text, level := Picture{"1/3", 1.0 / 3, []Format{Float16}}.Cells()
	want := []string{"0", "0", "1", "1", "0", "1", "0", "1", "0", "1", "0", "1", "0", "1", "0", "1"}
	if rows[0] != "float16" || !slices.Equal(text[0][:16], want) || text[0][16] != "" || level[0][0] != 1 || level[0][5] != 2 || level[0][6] != 3 || level[0][16] != 0 {
		t.Errorf("%v: %v at levels %v, expected %v", rows, text[0], level[0], want)
	}
}
