//go:build !edited

package engine

import (
	"strings"
	"testing"
)

// TestUneditedEngineIsRefused: a program built without the edits names the right build
// command in one line.
func TestUneditedEngineIsRefused(t *testing.T) {
	_, err := New(Config{})
	if err == nil || !strings.Contains(err.Error(), "go run ./kernel/edited/go build ./kernel/cells") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected one line with the command that builds the program", err)
	}
}
