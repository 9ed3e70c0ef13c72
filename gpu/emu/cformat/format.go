// Package cformat is C's printf, with the arguments as the bits that a kernel has stored.
// Package engine, which it must not import, reads them from the memory of a thread.
package cformat

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// conversionSpec is a conversion of C's printf: its flags, width, precision,
// size and letter.
type conversionSpec struct {
	flags     string
	width     int // -1 if there is none
	precision int
	long      bool // 64 bits
	narrow    int  // 16 or 8 bits, 0 if it is not
	verb      byte
}

// MostString bounds a string and a width, so that reading an unterminated one ends.
const MostString = 1 << 16

// Printf is C's printf. next returns the next argument, of 4 or 8 bytes by its
// logarithm, and text the string at an address.
func Printf(f string, next func(k int) uint64, text func(at uint64) string) string {
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(f, "%")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		var c conversionSpec
		if c, f = parseConversion(rest, func() int { return int(int32(next(2))) }); c.verb == '%' || c.verb == 0 {
			b.WriteByte('%')
			continue
		}
		v := next(c.size())
		if c.verb == 's' && v != 0 {
			b.WriteString(c.pad(c.cut(text(v))))
			continue
		}
		b.WriteString(c.value(v))
	}
}

// parseConversion reads a conversion after its '%'; star reads an argument that gives a
// width or precision.
func parseConversion(f string, star func() int) (conversionSpec, string) {
	c := conversionSpec{width: -1, precision: -1}
	flags := len(f) - len(strings.TrimLeft(f, "-+ #0"))
	c.flags, f = f[:flags], f[flags:]
	number := func() int {
		if strings.HasPrefix(f, "*") {
			f = f[1:]
			return star()
		}
		digits := len(f) - len(strings.TrimLeft(f, "0123456789"))
		n, _ := strconv.Atoi(f[:digits]) // "" is 0
		f = f[digits:]
		return min(n, MostString)
	}
	if f != "" && strings.IndexByte("*123456789", f[0]) >= 0 {
		if c.width = number(); c.width < 0 {
			c.flags, c.width = c.flags+"-", -c.width
		}
	}
	if strings.HasPrefix(f, ".") {
		f = f[1:]
		c.precision = number()
	}
	size := len(f) - len(strings.TrimLeft(f, "hljztL"))
	c.long = strings.ContainsAny(f[:size], "ljzt")
	c.narrow = map[string]int{"h": 16, "hh": 8}[f[:size]]
	if f = f[size:]; f != "" {
		c.verb, f = f[0], f[1:]
	}
	return c, f
}

// size is the logarithm of the bytes of the argument.
func (c conversionSpec) size() int {
	if c.long || strings.IndexByte("psfFeEgGaA", c.verb) >= 0 {
		return 3
	}
	return 2
}

// value is the text of an argument that is not a string, in the format of the C library
// of a GPU's host.
func (c conversionSpec) value(v uint64) string {
	if c.narrow > 0 {
		v = v << (64 - c.narrow) >> (64 - c.narrow)
	}
	switch c.verb {
	case 'd', 'i':
		signed := int64(v)
		if !c.long {
			bits := cmp.Or(c.narrow, 32)
			signed = int64(v<<(64-bits)) >> (64 - bits)
		}
		digits := strconv.FormatUint(uint64(max(signed, -signed)), 10)
		return c.number(c.sign(signed < 0), c.digits(digits), c.precision < 0)
	case 'u', 'x', 'X', 'o':
		base := map[byte]int{'u': 10, 'x': 16, 'X': 16, 'o': 8}[c.verb]
		digits, prefix := strconv.FormatUint(v, base), ""
		if strings.Contains(c.flags, "#") && v != 0 {
			prefix = map[int]string{16: "0x", 8: "0"}[base]
		}
		if c.verb == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
		return c.number(prefix, c.digits(digits), c.precision < 0)
	case 'c':
		return c.pad(string([]byte{byte(v)}))
	case 'p':
		if v == 0 {
			return c.pad("(nil)")
		}
		return c.pad(fmt.Sprintf("%#x", v))
	case 's':
		return c.pad(c.cut("(null)"))
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		return c.float(math.Float64frombits(v))
	}
	return "%" + string(c.verb) // no conversion of C
}

func (c conversionSpec) float(v float64) string {
	sign := c.sign(math.Signbit(v))
	if v != v || math.IsInf(v, 0) {
		text := map[bool]string{true: "nan", false: "inf"}[v != v]
		if c.verb < 'a' {
			text = strings.ToUpper(text)
		}
		return c.number(sign, text, false)
	}
	verb, precision := c.verb|0x20, c.precision
	if precision < 0 && verb != 'a' {
		precision = 6
	}
	var text string
	switch verb {
	case 'g':
		form := "%.*g"
		if strings.Contains(c.flags, "#") {
			form = "%#.*g"
		}
		text = fmt.Sprintf(form, max(precision, 1), math.Abs(v))
	case 'a': // C has no leading zero in the exponent
		text = strconv.FormatFloat(math.Abs(v), 'x', precision, 64)
		if n := len(text); text[n-2] == '0' {
			text = text[:n-2] + text[n-1:]
		}
	default:
		text = strconv.FormatFloat(math.Abs(v), verb, precision, 64)
		if precision == 0 && strings.Contains(c.flags, "#") {
			digits, exponent, _ := strings.Cut(text, "e")
			text = strings.TrimSuffix(digits+".e"+exponent, "e")
		}
	}
	if c.verb < 'a' {
		text = strings.ToUpper(text)
	}
	return c.number(sign, text, true)
}

func (c conversionSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case strings.Contains(c.flags, "+"):
		return "+"
	case strings.Contains(c.flags, " "):
		return " "
	}
	return ""
}

// digits are the digits of an integer, at least as many as the precision requires.
func (c conversionSpec) digits(d string) string {
	if c.precision == 0 && d == "0" {
		return ""
	}
	return strings.Repeat("0", max(0, c.precision-len(d))) + d
}

// cut is a string of at most precision bytes.
func (c conversionSpec) cut(s string) string {
	if c.precision >= 0 {
		return s[:min(len(s), c.precision)]
	}
	return s
}

// number puts a sign or prefix before digits, with zeros between them if a flag requires
// it.
func (c conversionSpec) number(sign, digits string, zeros bool) string {
	if zeros && strings.Contains(c.flags, "0") && !strings.Contains(c.flags, "-") {
		digits = strings.Repeat("0", max(0, c.width-len(sign)-len(digits))) + digits
	}
	return c.pad(sign + digits)
}

func (c conversionSpec) pad(s string) string {
	fill := strings.Repeat(" ", max(0, c.width-len(s)))
	if strings.Contains(c.flags, "-") {
		return s + fill
	}
	return fill + s
}
