package main

import (
	"path/filepath"
	"slices"
	"testing"

	"warpbook/gpu/device"
	"warpbook/kernel/cells/corpus"
)

// TestNotebooksTwice: all cells of a notebook run, and then all again in the same session:
// each prints and shows what a compiled program prints and shows that does the same, but for
// times. Cells with a magic that the program lacks, such as %debug, do not run.
func TestNotebooksTwice(t *testing.T) {
	t.Setenv(device.Variable, "emu")
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	quick := slices.DeleteFunc(slices.Clone(corpus.OwnNotebooks), func(n corpus.OwnNotebook) bool { return !n.Quick })
	for _, n := range sample(t, quick, 1) {
		t.Run(n.Name, func(t *testing.T) {
			notebook, err := corpus.ReadOwn(filepath.Join(root, "notebooks"), n)
			if err != nil {
				t.Fatal(err)
			}
			c, err := notebook.Compare(program, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d cells, %d lines equal, %d without times, cells without a program: %v", c.Cells, c.Lines, c.WithoutTimes, c.Left)
			if c.Cells < n.Cells || c.Lines < n.Lines {
				t.Errorf("%d cells and %d lines are compared, expected at least %d and %d", c.Cells, c.Lines, n.Cells, n.Lines)
			}
			for _, difference := range c.Differences {
				t.Error(difference)
			}
		})
	}
}
