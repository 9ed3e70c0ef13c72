package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/ops"
)

// counterLine is one of the bench's --counters, with all shares the same.
func counterLine(name, entry, verdict string, ns int, share float64) string {
	metrics := fmt.Sprintf("%q: \"%d ns\"", duration, ns)
	for _, u := range units {
		metrics += fmt.Sprintf(", %q: \"%v %%\"", u.metric, share)
	}
	return fmt.Sprintf(`{"kind": "counters", "operator": "reduce", "name": %q, "size": [1000], "verdict": %q, "entry": %q, "device": "NVIDIA H200", "metrics": {%s}}`,
		name, verdict, entry, metrics) + "\n"
}

func TestCounters(t *testing.T) {
	folder := t.TempDir()
	notes, file := filepath.Join(folder, "reduce", "notes.md"), filepath.Join(folder, "reduce", "measured", "counters.h200.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(notes, []byte("before\n\n<!-- counters.h200 -->\nold\n\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := counterLine("a", "first", ops.Pass, 1000, 10) + counterLine("a", "second", ops.Pass, 3000, 20) + counterLine("a", "second", ops.Pass, 1000, 60)
	if err := runCounters(strings.NewReader(text), folder, "h200"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n\n<!-- counters.h200 -->\n| rung |", "| a at 1000 | first | 1 | 1.0 | 10 |", "| a at 1000 | second | 2 | 4.0 | 30 |", "|\n\nafter\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not in the notes:\n%s", want, page)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != text {
		t.Errorf("%s: %v, expected the lines:\n%s", file, err, kept)
	}
	for lines, want := range map[string]string{
		"": "no line",
		counterLine("a", "first", "FAIL", 1000, 10):       "verdict",
		strings.Replace(text, "H200", "H100", 1):          "expected an h200",
		strings.Replace(text, "counters", "figure", 1):    "expected a line",
		strings.Replace(text, `"10 %"`, `"not there"`, 1): "invalid syntax",
	} {
		if err := runCounters(strings.NewReader(lines), folder, "h200"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if again, err := os.ReadFile(notes); err != nil || string(again) != string(page) {
		t.Error("refused lines changed the notes")
	}
}

// The tables of counters in the notes are those of the committed lines.
func TestCountersOfNotes(t *testing.T) {
	files, err := filepath.Glob("../../*/measured/counters.*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no committed counters: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		table, err := countersTable(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		notes := filepath.Join(filepath.Dir(file), "..", "notes.md")
		page, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		mark := "<!-- " + strings.TrimSuffix(filepath.Base(file), ".jsonl") + " -->\n"
		if !strings.Contains(string(page), mark+table+"\n") {
			t.Errorf("%s has another table behind %s expected that of %s: run go run ./ops/cmd/measured --counters", notes, mark, file)
		}
	}
}
