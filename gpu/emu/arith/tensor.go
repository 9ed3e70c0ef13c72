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

// Term is a decomposed factor: significand * 2^(exponent - fraction bits of its type).
type Term struct {
	significand int32
	exponent    int16
	class       class
}

type class uint8

const (
	finiteClass class = iota
	zeroClass
	infiniteClass
	nanClass
)

// TermOf decomposes a value of a float type.
func TermOf(a uint64, f format) Term {
	bias := int16(1)<<(f.exponent-1) - 1
	e, fraction := int16(a>>f.fraction&(1<<f.exponent-1)), int32(a&(1<<f.fraction-1))
	t := Term{fraction | 1<<f.fraction, e - bias, finiteClass}
	switch {
	case e == 0 && fraction == 0:
		t = Term{0, 0, zeroClass}
	case e == 0:
		t = Term{fraction, 1 - bias, finiteClass}
	case e == 1<<f.exponent-1 && fraction == 0:
		t.class = infiniteClass
	case e == 1<<f.exponent-1:
		t.class = nanClass
	}
	if a>>(f.exponent+f.fraction)&1 != 0 {
		t.significand = -t.significand
	}
	return t
}

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
	for n := u.group.of(of); len(a) > 0; {
		n = min(n, len(a))
		c = u.add(TermOf(c, FormatOf(to)), a[:n], b[:n], int(factorFraction(of)), to)
		a, b = a[n:], b[n:]
	}
	return c
}

// factorFraction is the fraction bits of the factors.
func factorFraction(of ptx.Type) uint {
	if of == "e4m3" {
		return 3
	}
	return FormatOf(of).fraction
}

// add is the sum of one group, whose factors have the given number of fraction bits.
func (u *TensorCore) add(c Term, a, b []Term, fraction int, to ptx.Type) uint64 {
	const none = -1 << 15
	most := none
	if c.class == finiteClass {
		most = int(c.exponent)
	}
	special := c.class >= infiniteClass
	for i := range a {
		switch worst := max(a[i].class, b[i].class); {
		case worst == finiteClass:
			most = max(most, int(a[i].exponent)+int(b[i].exponent))
		case worst > zeroClass:
			special = true
		}
	}
	switch {
	case special:
		return specialSum(c, a, b, to)
	case most == none:
		return 0
	}
	sum := aligned64(int64(c.significand), u.fraction-int(FormatOf(to).fraction)-(most-int(c.exponent)))
	for i := range a {
		product := int64(a[i].significand) * int64(b[i].significand)
		sum += aligned64(product, u.fraction-2*fraction-(most-int(a[i].exponent)-int(b[i].exponent)))
	}
	if to == "f16" {
		return RoundFloat(math.Ldexp(float64(sum), most-u.fraction), Nearest, FormatOf(to))
	}
	return truncated(sum, most-u.fraction, u.digits)
}

// aligned64 shifts left, or right with truncation.
func aligned64(v int64, shift int) int64 {
	switch {
	case shift >= 0:
		return v << min(shift, 63)
	case v < 0:
		return -(-v >> min(-shift, 63))
	}
	return v >> min(-shift, 63)
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
		k := max(a[i].class, b[i].class)
		if k == infiniteClass && min(a[i].class, b[i].class) == zeroClass {
			k = nanClass
		}
		add(k, (a[i].significand < 0) != (b[i].significand < 0))
	}
	return RoundFloat(sum, Nearest, FormatOf(to))
}
