package ladder

import (
	"strconv"
	"strings"
)

// String is a size as a table cell has it: "1 048 579", "512 x 512 x 64".
func (s Size) String() string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = Grouped(float64(d))
	}
	return strings.Join(parts, " x ")
}

// Grouped is a whole number with its digits in groups of three from five on.
func Grouped(v float64) string {
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
