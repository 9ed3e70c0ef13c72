package ladder

import (
	"slices"
	"testing"
)

// Lines of a change stand in the same rows; what one side lacks is empty there.
func TestPairs(t *testing.T) {
	got := pairs("  a\n- b\n- c\n+ d\n  e\n+ f\n- g\n")
	want := []LinePair{{"  a", "  a"}, {"- b", "+ d"}, {"- c", ""}, {"  e", "  e"}, {"", "+ f"}, {"- g", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
