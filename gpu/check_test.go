package gpu

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"cpu_serial", "sum_v0", "sum_shfl_xor", "sum_v2_sequential"}
	for name, want := range map[string]string{
		"sum_v2": "expected one such as sum_v2_sequential, sum_v0, sum_shfl_xor",
		"cpu":    "expected one such as cpu_serial, sum_v0, sum_shfl_xor",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("nearest to %s: %q, expected %q", name, got, want)
		}
	}
	if got := Nearest("abc", []string{"abxdefgh", "abd"}); got != "expected one such as abd, abxdefgh" {
		t.Errorf("a name with one other letter comes after one that begins so: %q", got)
	}
	if got := Nearest("abcd", []string{"wxyd", "abxdefghij"}); got != "expected one such as abxdefghij, wxyd" {
		t.Errorf("a name that begins nearly so comes after one with three other letters: %q", got)
	}
	if got := Nearest("a", nil); got != "there are none" {
		t.Errorf("nearest of no names: %q", got)
	}
}

// A name that begins like others finds these, however long they are.
func TestNearestByBeginning(t *testing.T) {
	names := []string{"cpu_serial", "sort_global", "sort_v0_interleaved", "sort_v6_grid_stride", "sort_v2_sequential", "sort_shfl_xor"}
	if got := Nearest("sort_v9", names); got != "expected one such as sort_v0_interleaved, sort_v6_grid_stride, sort_v2_sequential" {
		t.Error(got)
	}
}
