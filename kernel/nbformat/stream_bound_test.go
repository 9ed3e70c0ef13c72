package nbformat

import (
	"strings"
	"testing"
)

// A stream that is too long ends with a line that says so, and later text is dropped.
func TestStreamIsBounded(t *testing.T) {
	c := &Cell{}
	line := strings.Repeat("é", 1<<15)
	for range mostStream/len(line) + 10 {
		c.AddStream("stdout", line)
	}
	c.AddStream("stdout", "x")
	text := c.Outputs[0].Text
	if len(c.Outputs) != 1 || len(text) > mostStream+len(full) || !strings.HasSuffix(text, "é"+full) {
		t.Errorf("%d outputs, %d bytes that end in %q", len(c.Outputs), len(text), text[max(0, len(text)-80):])
	}
}
