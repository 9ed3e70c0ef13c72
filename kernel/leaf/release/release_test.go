package release

import (
	"os"
	"strings"
	"testing"
)

// The list of changes has a heading for the version, which .ci/release looks for.
func TestChangelog(t *testing.T) {
	changes, err := os.ReadFile("../../../.github/CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(changes), "\n## "+Version+", ") {
		t.Errorf("no heading of version %s", Version)
	}
}

// TestSame: versions always count, builds where both are known.
func TestSame(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"0.1.0", "0.1.0", true}, {"0.1.0", "0.1.1", false}, {"", "0.1.0", false},
		{"0.1.0+a", "0.1.0+a", true}, {"0.1.0+a", "0.1.0+b", false},
		{"0.1.0+a", "0.1.0", true}, {"0.1.0", "0.1.0+b", true}, {"0.1.1+a", "0.1.0+a", false},
	} {
		if Same(test.a, test.b) != test.want || Same(test.b, test.a) != test.want {
			t.Errorf("%s and %s: expected %v", test.a, test.b, test.want)
		}
	}
	if With("") != Version || With("1f") != Version+"+1f" || !Same(Name(), Version) {
		t.Errorf("names %s, %s and %s", With(""), With("1f"), Name())
	}
}
