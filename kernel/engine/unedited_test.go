//go:build !edited

package engine

import (
	"strings"
	"testing"
)

// TestUneditedEngineIsRefused: a program that was built by the go command alone says
// in one line how it is built.
func TestUneditedEngineIsRefused(t *testing.T) {
	_, err := New(Config{})
	if err == nil || !strings.Contains(err.Error(), "go run ./kernel/edited/go build ./kernel/cells") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected one line with the command that builds the program", err)
	}
}
