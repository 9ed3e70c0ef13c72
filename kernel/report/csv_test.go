package report

import (
	"strings"
	"testing"
)

// Numbers lose their groups of digits, and units have a column of their own. Names, sizes
// and dates stay whole.
func TestCSVUnits(t *testing.T) {
	for _, c := range []struct {
		rows [][]string
		want string
	}{
		{[][]string{{"variant", "time"}, {"a_1", "12.3 us"}, {"b_2", "1.5 ms"}, {"c_3", "-"}}, "variant,time,time unit\na_1,12.3,us\nb_2,1.5,ms\nc_3,,\n"},
		{[][]string{{"v", "bytes", "share"}, {"a", "1 000 000", "97.6 %"}, {"b", "5", "0.0042 %"}}, "v,bytes,share,share unit\na,1000000,97.6,%\nb,5,0.0042,%\n"},
		{[][]string{{"v", "speed"}, {"a", "1.53x FASTER"}, {"b", "SAME"}}, "v,speed,speed unit\na,1.53,x FASTER\nb,,SAME\n"},
		{[][]string{{"size", "when", "of"}, {"4096 x 4096", "2026-11-28", "1/21 142"}}, "size,when,of\n4096 x 4096,2026-11-28,1/21 142\n"},
		{[][]string{{"v", "n"}, {"a", "-1 234.5"}, {"b", "3e-05"}}, "v,n\na,-1234.5\nb,3e-05\n"},
		{[][]string{{"v", "PTX"}, {"a", "3 us of sm_90"}, {"b", "4 us"}}, "v,PTX\na,3 us of sm_90\nb,4 us\n"},
		{[][]string{{"only a head"}}, "only a head\n"},
		{nil, ""},
	} {
		var b strings.Builder
		if err := (Table{Rows: c.rows}).CSV(&b); err != nil || b.String() != c.want {
			t.Errorf("%q: %v\n%s\nexpected\n%s", c.rows, err, b.String(), c.want)
		}
	}
}
