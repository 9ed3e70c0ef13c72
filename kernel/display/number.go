package display

import (
	"math"
	"strconv"
	"strings"
)

// formatNumber writes a whole number in full, any other with four significant
// digits.
func formatNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return significant(v)
}

// formatColumn writes numbers that stand below each other: all whole, or all
// with four significant digits. Missing values, NaN, are dashes.
func formatColumn(values []float64) []string {
	format := formatNumber
	for _, v := range values {
		if v != math.Trunc(v) && !math.IsNaN(v) {
			format = significant
		}
	}
	column := make([]string, len(values))
	for i, v := range values {
		column[i] = "–"
		if !math.IsNaN(v) {
			column[i] = format(v)
		}
	}
	return column
}

// significant writes v with four significant digits or all of its whole part, and
// with an exponent only for very large and very small numbers.
func significant(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0 || math.IsInf(v, 0) || math.IsNaN(v):
		return strconv.FormatFloat(v, 'g', -1, 64)
	case a >= 1e15 || a < 1e-4:
		return strconv.FormatFloat(v, 'e', 3, 64)
	case a >= 1000:
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	decimals := 3 - int(math.Floor(math.Log10(a)))
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// groupDigits sets digits of an integer in groups of three from five on.
func groupDigits(s string) string {
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if len(s) < 5 {
		return sign + s
	}
	out := ""
	for len(s) > 3 {
		out = " " + s[len(s)-3:] + out
		s = s[:len(s)-3]
	}
	return sign + s + out
}

// shortNumber writes v in the little room beside a bar: three significant
// digits, a whole number in full.
func shortNumber(v float64) string {
	a := math.Abs(v)
	switch {
	case v == math.Trunc(v) && a < 1e10:
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 1e7 || a < 1e-3:
		return exponent(strconv.FormatFloat(v, 'e', 2, 64))
	case a >= 100:
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	}
	decimals := 2 - int(math.Floor(math.Log10(a)))
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// tickLabel writes a round number as short as it can be read.
func tickLabel(v float64) string {
	if a := math.Abs(v); v != 0 && (a >= 1e8 || a < 1e-4) {
		return exponent(strconv.FormatFloat(v, 'g', 6, 64))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64) // of a step's error
	s := strconv.FormatFloat(rounded, 'f', -1, 64)
	if whole, fraction, ok := strings.Cut(s, "."); ok {
		return groupDigits(whole) + "." + fraction
	}
	return groupDigits(s)
}

// exponent writes 1e+07 as 1e7 and 5e-09 as 5e-9.
func exponent(s string) string {
	mantissa, e, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	n, _ := strconv.Atoi(e)
	return mantissa + "e" + strconv.Itoa(n)
}
