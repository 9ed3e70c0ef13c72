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
