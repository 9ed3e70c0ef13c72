package cformat

import (
	"math"
	"testing"
)

// TestFormat compares with the printf of a C library.
func TestFormat(t *testing.T) {
	words := []string{"", "abc", "a"} // strings by their addresses
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%5d|%-5d|%05d|%+d|% d", []any{42, 42, -42, 42, 42}, "   42|42   |-0042|+42| 42"},
		{"%.3d|%8.3d|%d|%i", []any{7, -7, math.MinInt32, 0}, "007|    -007|-2147483648|0"},
		{"%u|%x|%X|%#x|%#o|%o|%08x|%-8x|", []any{-1, 255, 255, 255, 8, 8, 48879, 48879}, "4294967295|ff|FF|0xff|010|10|0000beef|beef    |"},
		{"%lld|%llu|%llx|%ld|%hd|%hhd", []any{int64(-1), int64(-1), int64(-1), int64(1 << 40), -3, -4}, "-1|18446744073709551615|ffffffffffffffff|1099511627776|-3|-4"},
		{"%f|%.2f|%10.3f|%-10.3f|%+.1f|%010.2f|%.0f", []any{3.14159, 2.5, -1.5, 1.5, 2.25, -3.5, 2.5}, "3.141590|2.50|    -1.500|1.500     |+2.2|-000003.50|2"},
		{"%e|%.2e|%E", []any{12345.678, 0.00012, 1e100}, "1.234568e+04|1.20e-04|1.000000E+100"},
		{"%g|%g|%g|%g|%G|%.3g", []any{100000.0, 1000000.0, 0.0001, 0.00001, 1e-10, 1234567.0}, "100000|1e+06|0.0001|1e-05|1E-10|1.23e+06"},
		{"%f|%F|%e|%5g|%-5g|%05f", []any{math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1), math.Inf(1)}, "inf|-INF|-inf|  inf|inf  |  inf"},
		{"%a|%A|%.2a|%a", []any{1.0, 255.5, 3.14159, 0.1}, "0x1p+0|0X1.FFP+7|0x1.92p+1|0x1.999999999999ap-4"},
		{"%c|%5c|%-3c|%s|%10s|%-6s|%.2s|%%|%5.1s", []any{'x', 'y', 'z', "abc", "abc", "abc", "abc", "abc"}, "x|    y|z  |abc|       abc|abc   |ab|%|    a"},
		{"%*d|%-*d|%.*f|%*s", []any{6, 1, 6, 2, 2, 3.14159, -5, "a"}, "     1|2     |3.14|a    "},
		{"%p|%p", []any{int64(0x10), int64(0)}, "0x10|(nil)"},
		{"%hd|%hu|%hhd|%hhx", []any{70000, 70000, 70000, 70000}, "4464|4464|112|70"},
		{"%#.0f|%#.0e|%#g", []any{2.5, 12345.0, 100000.0}, "2.|1.e+04|100000."},
		{"%f|%5f|%f", []any{math.NaN(), math.NaN(), math.Copysign(math.NaN(), -1)}, "nan|  nan|-nan"},
		{"nothing", nil, "nothing"},
		{"100%", nil, "100%"},
	} {
		args := c.args
		got := Printf(c.format, func(k int) uint64 {
			v := args[0]
			args = args[1:]
			switch v := v.(type) {
			case float64:
				return math.Float64bits(v)
			case int64:
				return uint64(v)
			case rune:
				return uint64(v)
			case string:
				return uint64(len(words) - 2 + map[string]int{"abc": 0, "a": 1}[v])
			}
			return uint64(uint32(v.(int)))
		}, func(at uint64) string { return words[at] })
		if got != c.want {
			t.Errorf("%q: %q, expected %q", c.format, got, c.want)
		}
	}
}
