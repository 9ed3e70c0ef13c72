//go:build !windows

package main

import (
	"strings"
	"testing"
)

// TestSweep: every point runs in a process of its own, and the report names those that
// failed; the same command runs them again. The fake program runs no Go, so all fail.
func TestSweep(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "parameters|n := 1")
	for range 2 {
		o := p.warpbook("sweep", "x.ipynb", "--set", "n=1,2")
		if o.status != statusFailed || !strings.Contains(o.stdout, "wrote sweep/x.sweep.html, sweep/x.sweep.csv, sweep/x.sweep.json\n") {
			t.Errorf("%+v, expected a report", o)
		}
		for _, want := range []string{"2 of 2 points are missing\n", "point 2 of 2, 0001-n=2: failed: ", "undefined: n", "warpbook: sweep: 2 of 2 points failed: the same command runs them again\n"} {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("no %q in %s", want, o.stderr)
			}
		}
	}
	if got := p.names("sweep/points"); got != "0000-n=1 0001-n=2" {
		t.Errorf("points: %s", got)
	}
}

// TestSweepRefuses: what no point could run is refused in one line, before the folder is
// made.
func TestSweepRefuses(t *testing.T) {
	p := newPlace(t)
	p.notebook("x.ipynb", "parameters|n := 1")
	p.write("python.ipynb", `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}, "cells": []}`)
	p.write("file", "")
	p.write("results/x.sweep.csv", "written by hand")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"none.ipynb", "--set", "n=1,2"}, "no such file"},
		{[]string{"python.ipynb", "--set", "n=1,2"}, `kernel "python3"`},
		{[]string{"x.ipynb", "--set", "m=1,2"}, "the notebook does not declare m, expected one of: n"},
		{[]string{"x.ipynb", "--set", "n=1,)"}, `the value ")" of n is not a Go expression`},
		{[]string{"x.ipynb", "--set", "n=1,2", "--out", "file"}, "sweep: --out: open file/sweep.json: not a directory"},
		{[]string{"x.ipynb", "--set", "n=1,2", "--out", "results"}, "results/x.sweep.csv: no sweep has written this file, expected an empty folder, or --out another"},
		{[]string{"x.ipynb", "--set", "n=1,2", "--point", "2", "--out", "points"}, "point 2, expected 0 to 1"},
	} {
		p.warpbook(append([]string{"sweep"}, test.args...)...).refused(t, statusFailed, test.want)
	}
	if got := p.names("sweep"); got != "" {
		t.Errorf("refused sweeps wrote %q", got)
	}
}
