package clang_test

import (
	"math"
	"math/big"
)

// wide computes functions of float64 in wideBits bits, as the reference of package
// include's functions: Taylor's series after the argument is made small.

const wideBits = 256

type wide = *big.Float

func num(x float64) wide       { return new(big.Float).SetPrec(wideBits).SetFloat64(x) }
func ratio(a, b int64) wide    { return quo(num(float64(a)), num(float64(b))) }
func add(a, b wide) wide       { return new(big.Float).SetPrec(wideBits).Add(a, b) }
func sub(a, b wide) wide       { return new(big.Float).SetPrec(wideBits).Sub(a, b) }
func mul(a, b wide) wide       { return new(big.Float).SetPrec(wideBits).Mul(a, b) }
func quo(a, b wide) wide       { return new(big.Float).SetPrec(wideBits).Quo(a, b) }
func neg(a wide) wide          { return new(big.Float).SetPrec(wideBits).Neg(a) }
func root(a wide) wide         { return new(big.Float).SetPrec(wideBits).Sqrt(a) }
func shift(a wide, n int) wide { return new(big.Float).SetPrec(wideBits).SetMantExp(a, n) }

// series adds terms until they no longer matter; next makes term k of the one before.
func series(first wide, next func(k int64, term wide) wide) wide {
	sum, term := num(0).Add(num(0), first), first
	for k := int64(1); term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-wideBits); k++ {
		term = next(k, term)
		sum = add(sum, term)
	}
	return sum
}

// machin is pi in so many bits: 16 atan(1/5) - 4 atan(1/239).
func machin(bits uint) wide {
	number := func(n int64) wide { return new(big.Float).SetPrec(bits).SetInt64(n) }
	inverse := func(n int64) wide {
		sum, p := number(0), number(1)
		p.Quo(p, number(n))
		for k := int64(0); p.MantExp(nil) > -int(bits); k++ {
			term := new(big.Float).SetPrec(bits).Quo(p, number(2*k+1))
			sum.Add(sum, term)
			p.Quo(p, number(-n*n))
		}
		return sum
	}
	five, rest := inverse(5), inverse(239)
	return five.Sub(five.Mul(five, number(16)), rest.Mul(rest, number(4)))
}

// hugeBits are enough for pi where a float64 has 2^1024 quarters.
const hugeBits = 1400

// pi, and ln 2 = 2 atanh(1/3).
var (
	hugePi  = machin(hugeBits)
	widePi  = new(big.Float).SetPrec(wideBits).Set(hugePi)
	wideLn2 = func() wide {
		sum, p := num(0), ratio(1, 3)
		for k := int64(0); p.MantExp(nil) > -wideBits-8; k++ {
			sum = add(sum, quo(p, num(float64(2*k+1))))
			p = quo(p, num(9))
		}
		return shift(sum, 1)
	}()
)

func rounded(x wide) int64 { // to the nearest integer
	half := num(math.Copysign(0.5, float64(x.Sign())))
	n, _ := add(x, half).Int64()
	return n
}

// bounded limits the argument of an exponential to where every type has overflowed.
func bounded(x wide) wide {
	if x.MantExp(nil) > 14 {
		return num(math.Copysign(1<<14, float64(x.Sign())))
	}
	return x
}

func wideExpm1(x wide) wide {
	r, n := lessLn2(x)
	small := series(r, func(k int64, term wide) wide { return quo(mul(term, r), num(float64(k+1))) })
	if n == 0 {
		return small
	}
	return sub(shift(add(num(1), small), n), num(1))
}

func wideExp(x wide) wide {
	r, n := lessLn2(x)
	return shift(add(num(1), wideExpm1(r)), n)
}

// lessLn2 is x without whole multiples of ln 2.
func lessLn2(x wide) (r wide, n int) {
	x = bounded(x)
	n = int(rounded(quo(x, wideLn2)))
	return sub(x, mul(num(float64(n)), wideLn2)), n
}

// log x = n ln 2 + 2 atanh((m - 1) / (m + 1)).
func wideLog(x wide) wide {
	m := num(0)
	n := x.MantExp(m)
	if m.Cmp(num(math.Sqrt2/2)) < 0 {
		m, n = shift(m, 1), n-1
	}
	return add(mul(num(float64(n)), wideLn2), wideLog1p(sub(m, num(1))))
}

func wideLog1p(f wide) wide {
	if f.Cmp(num(-0.4)) < 0 || f.Cmp(num(0.5)) > 0 {
		return wideLog(add(f, num(1)))
	}
	t := quo(f, add(num(2), f))
	square, sum, p := mul(t, t), num(0), t
	for k := int64(0); p.Sign() != 0 && (sum.Sign() == 0 || p.MantExp(nil) > sum.MantExp(nil)-wideBits); k++ {
		sum = add(sum, quo(p, num(float64(2*k+1))))
		p = mul(p, square)
	}
	return shift(sum, 1)
}

// sine and cosine of x after whole quarters are removed, with enough bits of pi.
func wideSinCos(x wide) (s, c wide) {
	quarter := shift(widePi, -1)
	if x.MantExp(nil) > 50 { // pi needs as many more bits
		huge := func() *big.Float { return new(big.Float).SetPrec(hugeBits) }
		quarter := huge().SetMantExp(hugePi, -1)
		n, _ := huge().Quo(x, quarter).Int(nil)
		rest := huge().Sub(x, huge().Mul(huge().SetInt(n), quarter))
		return turned(new(big.Float).SetPrec(wideBits).Set(rest), int64(n.Bit(0)|n.Bit(1)<<1))
	}
	n := rounded(quo(x, quarter))
	return turned(sub(x, mul(num(float64(n)), quarter)), n)
}

func turned(r wide, n int64) (s, c wide) {
	square := neg(mul(r, r))
	s = series(r, func(k int64, term wide) wide { return quo(mul(term, square), num(float64(2*k*(2*k+1)))) })
	c = series(num(1), func(k int64, term wide) wide { return quo(mul(term, square), num(float64(2*k*(2*k-1)))) })
	switch n & 3 {
	case 1:
		return c, neg(s)
	case 2:
		return neg(s), neg(c)
	case 3:
		return neg(c), s
	}
	return s, c
}

// atan by halving: atan x = 2 atan(x / (1 + sqrt(1 + x^2))).
func wideAtan(x wide) wide {
	halvings := 0
	for ; x.MantExp(nil) > -6; halvings++ {
		x = quo(x, add(num(1), root(add(num(1), mul(x, x)))))
	}
	square, sum, p := neg(mul(x, x)), num(0), x
	for k := int64(0); p.Sign() != 0 && (sum.Sign() == 0 || p.MantExp(nil) > sum.MantExp(nil)-wideBits); k++ {
		sum = add(sum, quo(p, num(float64(2*k+1))))
		p = mul(p, square)
	}
	return shift(sum, halvings)
}

func wideAsin(x wide) wide {
	c := root(mul(sub(num(1), x), add(num(1), x)))
	if c.Sign() == 0 {
		return mul(shift(widePi, -1), num(float64(x.Sign())))
	}
	return wideAtan(quo(x, c))
}

func wideAcos(x wide) wide {
	// acos x = 2 atan(sqrt((1 - x) / (1 + x)))
	if x.Cmp(num(-1)) == 0 {
		return widePi
	}
	return shift(wideAtan(root(quo(sub(num(1), x), add(num(1), x)))), 1)
}

// erf by its series of positive terms, e^(-x^2) 2/sqrt(pi) sum 2^k x^(2k+1) / (1 3 5 ...);
// erfc by its continued fraction beyond 8, where 1 - erf would lose bits.
func wideErf(x wide) wide {
	if x.MantExp(nil) > 5 { // 1, to all bits
		return num(float64(x.Sign()))
	}
	square := mul(x, x)
	sum := series(x, func(k int64, term wide) wide { return quo(shift(mul(term, square), 1), num(float64(2*k+1))) })
	return mul(quo(shift(sum, 1), root(widePi)), wideExp(neg(square)))
}

func wideErfc(x wide) wide {
	if v, _ := x.Float64(); v < 8 {
		return sub(num(1), wideErf(x))
	}
	f := x
	for k := 300; k > 0; k-- {
		f = add(x, quo(ratio(int64(k), 2), f))
	}
	return quo(wideExp(neg(mul(x, x))), mul(f, root(widePi)))
}

func wideCbrt(x wide) wide {
	v, _ := x.Float64()
	y := num(math.Cbrt(v))
	if y.Sign() == 0 {
		return y
	}
	for range 4 {
		y = sub(y, quo(sub(mul(mul(y, y), y), x), mul(num(3), mul(y, y))))
	}
	return y
}
