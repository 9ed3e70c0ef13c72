//go:build !windows

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/runs"
)

func TestHistory(t *testing.T) {
	p := newPlace(t)
	if o := p.warpbook("history"); o.status != 0 || !strings.HasPrefix(o.stdout, "no runs in ") {
		t.Errorf("%+v, expected that there are no runs", o)
	}
	folder := p.path("data/warpbook/runs")
	for i, ns := range []int{200, 100} {
		at := time.Date(2026, 11, 20+i, 7, 0, 0, 0, time.UTC)
		if _, err := runs.Keep(folder, "01-x.ipynb", at, func(w io.Writer) error { _, err := io.WriteString(w, timed("01-x.ipynb", ns)); return err }); err != nil {
			t.Fatal(err)
		}
	}
	damaged, err := runs.Keep(folder, "02-y.ipynb", time.Now(), func(w io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	o := p.warpbook("history")
	lines := strings.Split(o.stdout, "\n")
	if o.status != 0 || len(lines) != 4 || !strings.HasPrefix(lines[1], "20261121T070000Z-01-x-") || !strings.HasPrefix(lines[2], "20261120") ||
		!strings.Contains(o.stderr, strings.TrimSuffix(filepath.Base(damaged), runs.Extension)+" is left out: ") {
		t.Errorf("%+v, expected the newest of two runs first, and why a third is left out", o)
	}
	os.Remove(damaged)
	if o := p.warpbook("history", "list", "--limit", "1"); !strings.Contains(o.stdout, "1 more: --limit 0 lists all") {
		t.Errorf("%+v, expected one run", o)
	}
	if o := p.warpbook("history", "--device", "none"); !strings.HasPrefix(o.stdout, "no runs") {
		t.Errorf("%+v, expected no run of that device", o)
	}
	if o := p.warpbook("history", "show", "20261120"); o.status != 0 || !strings.Contains(o.stdout, "device: GPU\n") || !strings.Contains(o.stdout, "rung                             200 ns") {
		t.Errorf("%+v, expected the run with its row", o)
	}
	if o := p.warpbook("history", "plot", "rung", "--html", "p.html"); o.status != 0 || strings.Index(o.stdout, "200 ns") > strings.Index(o.stdout, "100 ns") || strings.Count(p.read("p.html"), "<circle") != 2 {
		t.Errorf("%+v, expected two times, the oldest first", o)
	}
	if o := p.warpbook("history", "export", "all.csv"); o.status != 0 || strings.Count(p.read("all.csv"), "\n") != 3 || !strings.Contains(p.read("all.csv"), ",rung,time,200,200,200\n") {
		t.Errorf("%+v: %s, expected a line a row", o, p.read("all.csv"))
	}
	if o := p.warpbook("history", "export", "folder"); o.status != 0 || len(strings.Fields(p.names("folder"))) != 2 {
		t.Errorf("%+v: %s, expected two files", o, p.names("folder"))
	}
	if o := p.warpbook("compare", "folder", "folder"); o.status != 0 {
		t.Errorf("%+v, expected that what was exported can be compared", o)
	}
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"fly"}, statusUsage, `unknown verb "fly", expected list, show ID, plot ROW or export`},
		{[]string{"list", "x"}, statusUsage, "list: 1 arguments"},
		{[]string{"show"}, statusUsage, "show: 0 arguments, expected one: ID"},
		{[]string{"show", "1999"}, statusFailed, `no run with "1999" in its ID`},
		{[]string{"plot", "none"}, statusFailed, `no run has timed "none"`},
		{[]string{"export", "/dev/null/x"}, statusFailed, "/dev/null"},
	} {
		p.warpbook(append([]string{"history"}, test.args...)...).refused(t, test.status, test.want)
	}
}
