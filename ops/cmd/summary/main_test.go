package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestSummaryIsCurrent: the committed page is that of today's figures.
func TestSummaryIsCurrent(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../published/summary.md")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(have) {
		t.Error("ops/published/summary.md is stale, run go run ./ops/cmd/summary > ops/published/summary.md")
	}
	for _, verdict := range []string{"| reproduced |", "| contradicted: ", "Not comparable"} {
		if !strings.Contains(b.String(), verdict) {
			t.Errorf("no %q in the page", verdict)
		}
	}
}
