//go:build !windows

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"warpbook/ops/transpose"
)

// TestLinesOfGPUBenches parses each line of .ci/gpu-benches.txt: time on a GPU is
// scarce, and a wrong name would end the line there. A line beside libraries has the 5 turns
// that a verdict needs.
func TestLinesOfGPUBenches(t *testing.T) {
	text, err := os.ReadFile("../../../.ci/gpu-benches.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		fields := strings.Split(line, "|")
		if len(fields) != 3 {
			t.Errorf("%q: %d fields, expected FILE | OPERATOR | ARGUMENTS", line, len(fields))
			continue
		}
		o, err := parse(append([]string{strings.TrimSpace(fields[1])}, words(fields[2])...), io.Discard)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		trials := o.operator == transpose.Trials // compared with each other
		if o.turns < 5 && !o.alone && !trials && len(o.counters) == 0 {
			t.Errorf("%q: %d turns, expected at least 5, because fewer give no verdict", line, o.turns)
		}
		for _, name := range o.variants {
			if _, err := o.operator.Variant(name); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if lines == 0 {
		t.Error("no line was read")
	}
}

// words splits at spaces outside of double quotes.
func words(text string) (words []string) {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
