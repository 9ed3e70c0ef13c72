package results

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	"warpbook/kernel/leaf/record"
)

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

// newRecord makes the record of a result.
func newRecord(kind, title string, e Environment, rows []map[string]any) any {
	r := map[string]any{"schema": record.Version, "kind": kind, "title": title, "environment": e, "rows": rows}
	maps.Copy(r, e.Origin)
	return r
}
