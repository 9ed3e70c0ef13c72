package gpu

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"cpu_serial", "reduce_v0", "reduce_shfl_xor", "reduce_v2_sequential"}
	for name, want := range map[string]string{
		"reduce_v2": "expected one such as reduce_v2_sequential, reduce_v0, reduce_shfl_xor",
		"cpu":       "expected one such as cpu_serial, reduce_v0, reduce_shfl_xor",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("nearest to %s: %q, expected %q", name, got, want)
		}
	}
	if got := Nearest("a", nil); got != "there are none" {
		t.Errorf("nearest of no names: %q", got)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, expected %d", c.a, c.b, got, c.want)
		}
	}
}
