package arith

import (
	"math"
	"math/bits"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file models the sums of tensor cores. Products are exact, but sums differ from
// IEEE 754: a group of products and the accumulator are aligned to the largest of their
// exponents, truncated below a number of fraction bits, added exactly, and the sum is
// truncated to f32 (or rounded to nearest f16). More products than a group holds are
// several groups, one after the other.
//
// Sources: Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of NVIDIA
// tensor cores (2021); Xie et al., MMA-Sim (arXiv 2511.10909); Khattak and
// Mikaitis, Accurate models of NVIDIA tensor cores (arXiv 2512.07004).

// TensorCore is the arithmetic of a generation of tensor cores.
type TensorCore struct {
	group    groups
	fraction int // bits that are kept below the largest exponent
	digits   int // of a result of f32
}

// groups are how many products of a type of factors are added at once.
type groups struct{ half, tf32, fp8 int }

func (g groups) of(t ptx.Type) int {
	switch t {
	case "tf32":
		return g.tf32
	case "e4m3":
		return g.fp8
	}
	return g.half
}

// float32Digits are the digits of a float32.
const float32Digits = 24

// TensorCoreOf is the arithmetic of a compute capability. That of 9.0 is compared with
// an H200 bit by bit (package programs), the others follow publications.
func TensorCoreOf(c gpu.Compute) *TensorCore {
	switch {
	case c.Major >= 9:
		return &TensorCore{groups{half: 16, tf32: 8}, 25, float32Digits}
	case c.Major == 8:
		return &TensorCore{groups{half: 8, tf32: 4}, 24, float32Digits}
	}
	return &TensorCore{groups{half: 4}, 24, float32Digits}
}

// Halved is the arithmetic of wmma, which a GPU does in halves for tf32.
func (u *TensorCore) Halved(of ptx.Type) *TensorCore {
	if of != "tf32" {
		return u
	}
	return &TensorCore{groups{tf32: 4}, u.fraction, u.digits}
}

// FP8Core is the arithmetic of the tensor cores for fp8: wgmma of 9.0, and mma.sync of
// 8.9. A sum keeps 13 fraction bits, and so does its f32 result. It follows publications
// (MMA-Sim) and is not compared with a GPU.
func FP8Core(c gpu.Compute) *TensorCore {
	if c.Major >= 9 {
		return &TensorCore{groups{fp8: 32}, 13, 14}
	}
	return &TensorCore{groups{fp8: 16}, 13, 14}
}

// Term is a decomposed factor: its value is significand * 2^(exponent - fraction bits of its
// type). The exponent of zero is below those of all products, so that a sum need not ask
// for it.
type Term struct {
	value       float64
	significand int32
	exponent    int16
	class       class
}

// class is a set of bits: a sum joins those of its terms.
type class uint8

const (
	finiteClass   class = 0
	infiniteClass class = 1
	nanClass      class = 3
)

const zeroExponent = -1 << 13

// TermOf decomposes a value of a float type.
func TermOf(a uint64, f format) Term {
	bias := int16(1)<<(f.exponent-1) - 1
	e, fraction := int16(a>>f.fraction&(1<<f.exponent-1)), int32(a&(1<<f.fraction-1))
	t := Term{significand: fraction | 1<<f.fraction, exponent: e - bias}
	switch {
	case e == 0 && fraction == 0:
		return Term{exponent: zeroExponent}
	case e == 0:
		t.significand, t.exponent = fraction, 1-bias
	case e == 1<<f.exponent-1 && fraction == 0:
		t.class = infiniteClass
	case e == 1<<f.exponent-1:
		t.class = nanClass
	}
	if a>>(f.exponent+f.fraction)&1 != 0 {
		t.significand = -t.significand
	}
	t.value = float64(t.significand) * powerOf2(int(t.exponent)-int(f.fraction))
	return t
}

// powerOf2 is 2^n for an n between -1022 and 1023.
func powerOf2(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// FP8Term decomposes a value of e4m3 or e5m2, in units of e4m3's fraction. e4m3
// has no infinity, and one NaN.
func FP8Term(a uint64, of ptx.Type) Term {
	if of == "e5m2" {
		t := TermOf(a, format{5, 2})
		t.significand <<= 1
		return t
	}
	t := TermOf(a, format{4, 3})
	switch {
	case a&0x7f == nanFP8:
		t.class = nanClass
	case t.class >= infiniteClass:
		t.class = finiteClass
	}
	return t
}

// Number is a whole number as a factor of a product of integers.
func Number(v int32) Term { return Term{significand: v} }

// Dot is the sum of products of whole numbers.
func Dot(a, b []Term) int64 {
	sum := int64(0)
	for i := range a {
		sum += int64(a[i].significand) * int64(b[i].significand)
	}
	return sum
}

// Fuse is c plus the products of a and b, in groups. Its result has the type
// of c: f32 or f16.
func (u *TensorCore) Fuse(c uint64, a, b []Term, of, to ptx.Type) uint64 {
	n, f := u.group.of(of), FormatOf(to)
	for len(a) > n {
		c = u.add(TermOf(c, f), a[:n], b[:n], to)
		a, b = a[n:], b[n:]
	}
	return u.add(TermOf(c, f), a, b, to)
}

// add is the sum of one group. A float64 holds a product exactly, and the conversion to a
// whole number cuts off what is below the fraction bits that are kept.
func (u *TensorCore) add(c Term, a, b []Term, to ptx.Type) uint64 {
	b = b[:len(a)]
	most, all := int(c.exponent), c.class
	for i := range a {
		most = max(most, int(a[i].exponent)+int(b[i].exponent))
		all |= a[i].class | b[i].class
	}
	switch {
	case all != finiteClass:
		return specialSum(c, a, b, to)
	case most <= zeroExponent/2:
		return 0
	}
	unit := powerOf2(u.fraction - most)
	sum := int64(c.value * unit)
	for i := range a {
		sum += int64(a[i].value * b[i].value * unit)
	}
	if to == "f16" {
		return RoundFloat(math.Ldexp(float64(sum), most-u.fraction), Nearest, FormatOf(to))
	}
	return truncated(sum, most-u.fraction, u.digits)
}

// truncated is sum * 2^exponent as f32, cut off behind some digits.
func truncated(sum int64, exponent, kept int) uint64 {
	if sum == 0 {
		return 0
	}
	sign, v := uint64(0), uint64(sum)
	if sum < 0 {
		sign, v = 1<<31, uint64(-sum)
	}
	const bias, least, digits = 127, -126, float32Digits
	v = v >> max(0, bits.Len64(v)-kept) << max(0, bits.Len64(v)-kept)
	shift := bits.Len64(v) - digits // superfluous bits
	shift = max(shift, least-(digits-1)-exponent)
	if shift >= 0 {
		v >>= min(shift, 63)
	} else {
		v <<= -shift
	}
	e := exponent + shift + digits - 1 + bias // of the leading bit
	switch {
	case v < 1<<(digits-1): // subnormal
		return sign | v
	case e >= 255:
		return sign | 0x7f800000
	}
	return sign | uint64(e)<<23 | v&(1<<23-1)
}

// specialSum is a sum with infinities or NaN.
func specialSum(c Term, a, b []Term, to ptx.Type) uint64 {
	sum := 0.0
	add := func(k class, negative bool) {
		switch {
		case k == nanClass:
			sum = math.NaN()
		case k == infiniteClass && negative:
			sum += math.Inf(-1)
		case k == infiniteClass:
			sum += math.Inf(1)
		}
	}
	add(c.class, c.significand < 0)
	for i := range a {
		k := a[i].class | b[i].class
		if k == infiniteClass && (a[i].significand == 0 || b[i].significand == 0) {
			k = nanClass
		}
		add(k, (a[i].significand < 0) != (b[i].significand < 0))
	}
	return RoundFloat(sum, Nearest, FormatOf(to))
}
