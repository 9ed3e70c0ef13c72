package listings

import (
	"testing"
)

// The file is read as it is written, and each listing has a name of its own.
func TestAll(t *testing.T) {
	head, list := All()
	if Text(head, list) != text {
		t.Error("the file differs after All and Text")
	}
	if len(list) != 115 {
		t.Errorf("%d listings, expected 115", len(list))
	}
	seen := map[string]bool{}
	for _, l := range list {
		if seen[l.Name()] || l.Line == 0 || l.Source == "" || l.Answer == "" {
			t.Errorf("%s: twice, or without a line, a text or an answer", l.Name())
		}
		seen[l.Name()] = true
	}
}
