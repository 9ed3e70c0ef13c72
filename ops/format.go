package ops

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is a size as a table cell has it: "1 048 579", "512 x 512 x 64".
func (s Size) String() string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = grouped(float64(d))
	}
	return strings.Join(parts, " x ")
}

// significant formats a number with so many significant digits, without an
// exponent where that stays readable.
func significant(v float64, digits int) string {
	if v == 0 || v-v != 0 {
		return fmt.Sprint(v)
	}
	exponent := int(math.Floor(math.Log10(math.Abs(v))))
	if exponent < -4 || exponent > 15 {
		return strconv.FormatFloat(v, 'e', digits-1, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, digits-1-exponent), 64)
}

// grouped is a whole number with its digits in groups of three from five on.
func grouped(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	if len(digits) < 5 {
		return digits
	}
	var groups []string
	for ; len(digits) > 3; digits = digits[:len(digits)-3] {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
	}
	return strings.Join(append([]string{digits}, groups...), " ")
}

// plain is a float32 with the digits that tell it from its neighbours, without
// an exponent where that stays readable.
func plain(v float32) string {
	if a := math.Abs(float64(v)); a != 0 && (a < 1e-5 || a >= 1e15) {
		return strconv.FormatFloat(float64(v), 'e', -1, 32)
	}
	return strconv.FormatFloat(float64(v), 'f', -1, 32)
}

// jsonNumber is a number as JSON can hold it: NaN and Inf become text.
func jsonNumber(v float64) any {
	if v-v != 0 {
		return fmt.Sprint(v)
	}
	return v
}

// record is what every result's Record returns.
func record(kind, title string, e Environment, rows []map[string]any) any {
	return map[string]any{"kind": kind, "title": title, "environment": e, "rows": rows}
}
