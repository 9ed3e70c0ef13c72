// Package format describes the floating-point formats of NVIDIA's arithmetic: their bits,
// and how a number is rounded to them. Its main type is Format. Notebooks compare it with
// the device's conversions; it imports nothing of the project.
package format

import (
	"fmt"
	"math"
)

// Format is a floating-point format: a sign, exponent bits, mantissa bits.
type Format struct {
	Name               string
	Exponent, Mantissa int     // bits
	Largest            float64 // finite number
	Infinity           bool    // has infinities
	Away               bool    // halves are rounded away from zero, as cvt.rna does; to even otherwise
}

// The formats. TF32 lies in the upper 19 of 32 bits.
var (
	Float32  = Format{"float32", 8, 23, math.MaxFloat32, true, false}
	TF32     = Format{"TF32", 8, 10, (2 - 0x1p-10) * 0x1p127, true, true}
	BFloat16 = Format{"bfloat16", 8, 7, (2 - 0x1p-7) * 0x1p127, true, false}
	Float16  = Format{"float16", 5, 10, 65504, true, false}
	E5M2     = Format{"fp8 e5m2", 5, 2, 57344, true, false}
	E4M3     = Format{"fp8 e4m3", 4, 3, 448, false, false}
)

// Bits is how many bits of a number count.
func (f Format) Bits() int { return 1 + f.Exponent + f.Mantissa }

// Bias is what the exponent field has more than the exponent.
func (f Format) Bias() int { return 1<<(f.Exponent-1) - 1 }

// SmallestNormal is the smallest number with a full mantissa.
func (f Format) SmallestNormal() float64 { return math.Ldexp(1, 1-f.Bias()) }

// Smallest is the smallest number above 0.
func (f Format) Smallest() float64 { return math.Ldexp(1, 1-f.Bias()-f.Mantissa) }

// Round rounds a number to the format: its value, and its bits. NaN is no number.
func (f Format) Round(v float64) (rounded float64, word uint32) {
	size := math.Abs(v)
	_, e := math.Frexp(size)
	e = max(e-1, 1-f.Bias()) // below the smallest normal number the exponent stays
	quantum := math.Ldexp(1, e-f.Mantissa)
	steps := math.RoundToEven(size / quantum)
	if f.Away {
		steps = math.Round(size / quantum)
	}
	rounded = steps * quantum
	switch {
	case rounded > f.Largest && f.Infinity:
		rounded, word = math.Inf(1), uint32(1<<f.Exponent-1)<<f.Mantissa
	case steps < math.Ldexp(1, f.Mantissa): // subnormal, or zero
		word = uint32(steps)
	default:
		_, e = math.Frexp(rounded)
		word = uint32(e-1+f.Bias())<<f.Mantissa + uint32(math.Ldexp(rounded, f.Mantissa-e+1)) - 1<<f.Mantissa
	}
	if math.Signbit(v) {
		rounded, word = -rounded, word|1<<(f.Bits()-1)
	}
	return rounded, word
}

// Saturate is the bits of a number as cvt.satfinite makes them: the largest number stands
// for larger ones.
func (f Format) Saturate(v float64) (word uint32) {
	f.Infinity = false
	rounded, word := f.Round(v)
	if math.Abs(rounded) > f.Largest {
		_, word = f.Round(math.Copysign(f.Largest, v))
	}
	return word
}

// Picture draws a number in several formats, bit by bit from the left: a chart for display.
type Picture struct {
	Name    string // of the number, as in 1/3
	Value   float64
	Formats []Format
}

// Title names the number.
func (p Picture) Title() string { return p.Name + ", bit by bit" }

// Axes names columns and rows.
func (p Picture) Axes() (columns, rows string) { return "bit from the left", "format" }

// Legend names the levels of Cells, from 1 on.
func (p Picture) Legend() []string { return []string{"sign", "exponent", "mantissa"} }

// Cells has a row for each format and a column for each of 32 bits.
func (p Picture) Cells() (columns, rows []string, text [][]string, level [][]int) {
	for i := range 32 {
		columns = append(columns, fmt.Sprint(i))
	}
	for _, f := range p.Formats {
		_, word := f.Round(p.Value)
		digits, parts := make([]string, 32), make([]int, 32)
		for i := range f.Bits() {
			digits[i] = fmt.Sprint(word >> (f.Bits() - 1 - i) & 1)
			switch {
			case i == 0:
				parts[i] = 1
			case i <= f.Exponent:
				parts[i] = 2
			default:
				parts[i] = 3
			}
		}
		rows, text, level = append(rows, f.Name), append(text, digits), append(level, parts)
	}
	return columns, rows, text, level
}
