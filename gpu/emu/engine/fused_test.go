package engine

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"warpbook/gpu/emu/simd"
)

// fusedOperands are a product and a summand at which an fma that is rounded twice, or whose
// NaN is not the canonical one, gives another result.
var fusedOperands = map[string]func(random *rand.Rand) (a, b, c float32){
	"any bits": func(random *rand.Rand) (a, b, c float32) {
		return math.Float32frombits(random.Uint32()), math.Float32frombits(random.Uint32()), math.Float32frombits(random.Uint32())
	},
	"corners": func(random *rand.Rand) (a, b, c float32) {
		corner := func() float32 { return math.Float32frombits(cornerWords[random.IntN(len(cornerWords))]) }
		return corner(), corner(), corner()
	},
	// The product is half of the last bit of c, or next to that: the sum is exactly between
	// two float32, or only in float64.
	"tie": func(random *rand.Rand) (a, b, c float32) {
		exponent := random.IntN(250) - 125
		c = float32(math.Ldexp(1+float64(random.Uint32N(1<<23))*0x1p-23, exponent))
		up, part := 1+float64(random.Uint32N(4))*0x1p-23, 1-float64(random.Uint32N(4))*0x1p-24
		half, first := exponent-24, random.IntN(20)-10
		a, b = float32(math.Ldexp(up, half/2+first)), float32(math.Ldexp(part, half-half/2-first))
		return sign(random, a), b, sign(random, c)
	},
	// The result is below the smallest normal number or next to it, and the product has bits
	// far below its last one.
	"denormal": func(random *rand.Rand) (a, b, c float32) {
		at := -120 - random.IntN(35)
		a = float32(math.Ldexp(1+float64(random.Uint32N(1<<23))*0x1p-23, -60-random.IntN(4)))
		b = float32(math.Ldexp(1+float64(random.Uint32N(8))*0x1p-23, at+60))
		c = math.Float32frombits(random.Uint32N(1 << (1 + random.IntN(26))))
		return sign(random, a), b, sign(random, c)
	},
	// As denormal, with a product next to half of the last bit of a denormal number.
	"denormal tie": func(random *rand.Rand) (a, b, c float32) {
		a = float32(math.Ldexp(1+float64(random.Uint32N(4))*0x1p-23, -75))
		b = float32(math.Ldexp(1-float64(random.Uint32N(4))*0x1p-24, -75))
		c = math.Float32frombits(random.Uint32N(1 << 25))
		if random.Uint32N(2) == 0 {
			c = math.Float32frombits(0x7ffffe + random.Uint32N(4)) // next to the smallest normal number
		}
		return sign(random, a), b, sign(random, c)
	},
	"cancels": func(random *rand.Rand) (a, b, c float32) {
		a = math.Float32frombits(random.Uint32N(0x7f7fffff))
		b = float32(math.Ldexp(1+float64(random.Uint32N(1<<23))*0x1p-23, random.IntN(40)-20))
		c = -a * b
		return a, b, math.Float32frombits(math.Float32bits(c) + random.Uint32N(3) - 1)
	},
	"zero": func(random *rand.Rand) (a, b, c float32) { return 0, sign(random, 1), sign(random, 0) },
}

func sign(random *rand.Rand, x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) ^ random.Uint32N(2)<<31)
}

// TestFusedProducts compares the vector fma with the portable one, and that with exact
// arithmetic, where one lane, some or all of a warp have operands that are rounded wrongly by
// a plain sum of float64.
func TestFusedProducts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	in := vectorCases()["fma.f32"]
	in.d, in.a, in.b, in.c, in.guard = 0, 256, 512, 768, always
	for name, operands := range fusedOperands {
		for round := range 600 {
			w := vectorWarp(random)
			words := unsafe.Slice((*float32)(w.slots), testSlots/4)
			one, share := random.IntN(32), []int{0, 1, 4}[round%3]
			for l := range 32 {
				a, b, c := 1+random.Float32(), 1+random.Float32(), 1+random.Float32()
				if l == one || share > 0 && random.IntN(share) == 0 {
					a, b, c = operands(random)
				}
				words[64+l], words[128+l], words[192+l] = a, b, c
			}
			m := vectorMasks[round%len(vectorMasks)]
			if m == 1 {
				m = random.Uint32() | 1<<one
			}
			if simd.Best != simd.NoVectors {
				if d := differs(&in, m, w); d != "" {
					t.Fatalf("%s: %s (lanes %#08x)", name, d, m)
				}
			} else if m != 0 {
				in.exec(w, &in, m)
			}
			for l := range 32 {
				a, b, c := words[64+l], words[128+l], words[192+l]
				if want := exactly(a, b, c); m>>l&1 == 1 && math.Float32bits(words[l]) != math.Float32bits(want) {
					t.Fatalf("%s: %g * %g + %g is %#x, expected %#x", name, a, b, c, math.Float32bits(words[l]), math.Float32bits(want))
				}
			}
		}
	}
}

// exactly is a*b+c rounded once, with the NaN of PTX.
func exactly(a, b, c float32) float32 {
	x, y, z := float64(a), float64(b), float64(c)
	switch sum := x*y + z; {
	case sum != sum:
		return math.Float32frombits(0x7fffffff)
	case math.IsInf(sum, 0), x*y == 0 && z == 0:
		return float32(sum)
	}
	const bits = 1000 // more than the exponents of a product and a summand can be apart
	product := new(big.Float).SetPrec(bits).Mul(big.NewFloat(x), big.NewFloat(y))
	sum, _ := product.Add(product, big.NewFloat(z)).Float32()
	return sum
}
