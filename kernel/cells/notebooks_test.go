package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"warpbook/gpu/device"
	"warpbook/kernel/nbformat"
)

// twiceNotebooks are the notebooks of this repository that need no compiler and at most 5 s
// of processor time to run twice.
var twiceNotebooks = []string{"11-streams-events-graphs", "15-many-gpus", "17-gemm-inside", "18-debugger"}

// timed is an output with times, or with a race, of which workers see one byte or another
// first, and number what differs in it from run to run: numbers, those of durations with
// their unit, and spaces and rules as wide as they are.
var (
	timed  = regexp.MustCompile(`\b(ns|us|ms|s|[GTM]?(B|FLOPS?|FLOP|op)/s)\b|race: `)
	number = regexp.MustCompile(`[-+]?\d[\d.,]*(e[-+]?\d+)?((n|u|µ|m)?s\b)?|[\s─-]+`)
)

// TestNotebooksTwice: all cells of a notebook run, and then all again in the same session:
// each ends and prints the second time as the first time, but for numbers beside times and races.
func TestNotebooksTwice(t *testing.T) {
	t.Setenv(device.Variable, "emu")
	folder, err := filepath.Abs("../../notebooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sample(t, slices.Clone(twiceNotebooks), 1) {
		t.Run(name, func(t *testing.T) {
			nb, err := nbformat.Read(filepath.Join(folder, name+".ipynb"))
			if err != nil {
				t.Fatal(err)
			}
			c := start(t)
			c.answer("%cd " + folder)
			var first []map[string]string
			for again := range 2 {
				n := 0
				for _, cell := range nb.Cells {
					if cell.Type != nbformat.Code {
						continue
					}
					answer := c.answer(cell.Source)
					if again == 0 {
						first = append(first, answer)
						continue
					}
					sameAnswer(t, cell.Source, first[n], answer)
					n++
				}
			}
		})
	}
}

// sameAnswer compares the answers of a cell that runs again.
func sameAnswer(t *testing.T, code string, first, again map[string]string) {
	t.Helper()
	for _, part := range slices.Sorted(maps.Keys(first)) {
		was, is := first[part], again[part]
		if timed.MatchString(was) {
			was, is = number.ReplaceAllString(was, "#"), number.ReplaceAllString(is, "#")
		}
		if was != is {
			t.Errorf("%s\n--- %s\n%s\n--- the second time\n%s", code, part, first[part], again[part])
		}
	}
}
