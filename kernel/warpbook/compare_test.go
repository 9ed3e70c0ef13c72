//go:build !windows

package main

import (
	"fmt"
	"strings"
	"testing"
)

// timed is the file of a run with one row.
func timed(notebook string, ns ...int) string {
	list := strings.Join(strings.Fields(fmt.Sprint(ns)), ", ")
	return fmt.Sprintf(`{"schema": 1, "notebook": %q, "started": "2026-11-23T07:00:00Z", "cells": [{"id": "c", "records": [{"schema": 1, "kind": "figures", "title": "latency",
		"environment": {"device": "GPU"}, "rows": [{"name": "rung", "verdict": "PASS", "clock": "time", "total": {"median_ns": %d, "low_ns": %d, "high_ns": %d, "samples_ns": %s}}]}]}]}`,
		notebook, ns[0], ns[0], ns[0], list)
}

func TestCompare(t *testing.T) {
	p := newPlace(t)
	p.write("a.json", timed("x.ipynb", 100, 100, 101, 101, 102, 102))
	p.write("b.json", timed("x.ipynb", 110, 110, 111, 111, 112, 112))
	p.write("y.json", timed("y.ipynb", 1, 2))
	p.write("list.json", "[1]")
	p.write("number.json", `{"notebook": 3, "cells": []}`)
	o := p.warpbook("compare", "a.json", "b.json", "--html", "c.html", "--md", "c.md", "--json", "c.json", "--fail-on-slower", "20%")
	if o.status != 0 || !strings.Contains(o.stdout, "1 rows: 0 SAME, 0 FASTER, 1 SLOWER, 0 AMBIGUOUS") {
		t.Errorf("%+v, expected one slower row", o)
	}
	for name, want := range map[string]string{"c.html": "<!DOCTYPE html>", "c.md": "| rung | 101 ns | 111 ns | 1.099 |", "c.json": `"verdict": "SLOWER"`} {
		if got := p.read(name); !strings.Contains(got, want) {
			t.Errorf("%s has no %s:\n%s", name, want, got)
		}
	}
	o = p.warpbook("compare", "a.json", "b.json", "--fail-on-slower", "5%")
	if o.status != statusFailed || !strings.Contains(o.stderr, `b.json: 1 rows are SLOWER by more than 5%, the first "rung" of "latency" (ratio 1.099)`) {
		t.Errorf("%+v, expected status 1 and the row", o)
	}
	if o := p.warpbook("compare", "a.json", "b.json", "a.json", "--same", "10%"); o.status != 0 || strings.Count(o.stdout, "1 SAME") != 2 {
		t.Errorf("%+v, expected two comparisons with the same row", o)
	}
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"a.json"}, statusUsage, "expected two or more"},
		{[]string{"a.json", "b.json", "--same", "x"}, statusUsage, "expected a percentage such as 5%"},
		{[]string{"a.json", "none.json"}, statusFailed, "none.json: no such file"},
		{[]string{"a.json", "y.json"}, statusFailed, `no timed row in common: a.json has "latency" of x.ipynb, y.json has "latency" of y.ipynb, expected runs of one notebook with the same parameters`},
		{[]string{"a.json", "list.json"}, statusFailed, "list.json: the whole is a JSON array: expected a file that warpbook run has written"},
		{[]string{"a.json", "number.json"}, statusFailed, "number.json: notebook is a JSON number: expected a file that warpbook run has written"},
		{[]string{"a.json", "b.json", "--html", "none/x.html"}, statusFailed, "write none/x.html: open none: no such file or directory"},
		{[]string{"a.json", "device:none"}, statusFailed, "device:none: no run"},
		{[]string{"a.json", "b.json", "--html", "/dev/null/x"}, statusFailed, "/dev/null/x"},
	} {
		p.warpbook(append([]string{"compare"}, test.args...)...).refused(t, test.status, test.want)
	}
}

// compare finds a kept run. Keeping can be turned off, and a run passes even if it
// cannot be kept.
func TestRunsAreKept(t *testing.T) {
	p := newPlace(t)
	p.notebook("nb.ipynb", "bundle "+check("PASS"))
	for _, test := range []struct {
		variable string
		kept     int
		notice   string
	}{{"", 1, ""}, {"off", 0, ""}, {"/dev/null/x", 0, "the run is not kept for later comparisons: runs: "}} {
		c := p.command("run", "nb.ipynb")
		c.Env = append(c.Env, "WARPBOOK_RUNS="+test.variable, "XDG_DATA_HOME="+p.path("data"+test.variable))
		if o := p.finish(c); o.status != 0 || !strings.Contains(o.stderr, test.notice) {
			t.Errorf("WARPBOOK_RUNS=%s: %+v, expected a run that passed, and %q", test.variable, o, test.notice)
		}
		if got := strings.Count(p.names("data"+test.variable+"/warpbook/runs"), ".json.gz"); got != test.kept {
			t.Errorf("WARPBOOK_RUNS=%s: %d runs are kept, expected %d", test.variable, got, test.kept)
		}
	}
}
