package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// filesVariable names where a point that waits writes its files.
const filesVariable = "WARPBOOK_TEST_FILES"

// TestMain lets this binary be warpbook run: it writes the record of a point whose
// only row takes n nanoseconds, fails where n is 13, and where it is 99 waits for an
// interrupt between two files that it writes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "run" {
		var n int
		fmt.Sscanf(os.Args[slices.Index(os.Args, "--set")+1], "n=%d", &n)
		if n == 13 {
			fmt.Println("first line\nwarpbook: run: 13 is not run")
			os.Exit(1)
		}
		if n == 99 {
			interrupt := make(chan os.Signal, 1)
			signal.Notify(interrupt, os.Interrupt)
			os.WriteFile(os.Getenv(filesVariable)+".waits", nil, 0o644)
			<-interrupt
			os.WriteFile(os.Getenv(filesVariable)+".interrupted", nil, 0o644)
			os.Exit(1)
		}
		out := os.Args[slices.Index(os.Args, "--out")+1]
		text := fmt.Sprintf(`{"schema": 1, "notebook": "x.ipynb", "passed": true, "cells": [{"id": "c", "records": [{"schema": 1, "kind": "figures", "title": "latency: n = %d",
			"environment": {"device": %q}, "rows": [{"name": "rung", "clock": "time", "total": {"median_ns": %d, "low_ns": %d, "high_ns": %d}}]}]}]}`, n, strings.Join(os.Args[1:], " "), n, n, n)
		os.WriteFile(filepath.Join(out, "x.json"), []byte(text), 0o644)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newPlan(t *testing.T, folder string, axes ...string) *Plan {
	t.Helper()
	notebook := filepath.Join(t.TempDir(), "x.ipynb")
	if err := os.WriteFile(notebook, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list []Axis
	for _, text := range axes {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	p, err := NewPlan(notebook, list, folder)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseAxis(t *testing.T) {
	for text, want := range map[string][]string{
		"n=1": {"1"}, "n=1e5, 1e6": {"1e5", "1e6"}, `n=[]int{1,2},f(3,4)`: {"[]int{1,2}", "f(3,4)"}, `s="a,\",b",'c',` + "`d,`": {`"a,\",b"`, "'c'", "`d,`"},
	} {
		if a, err := ParseAxis(text); err != nil || !slices.Equal(a.Values, want) || a.Name != text[:1] {
			t.Errorf("%s: %q, %v, expected %q", text, a, err, want)
		}
	}
	for _, text := range []string{"", "n", "=1", "n=", "n=1,,2"} {
		if a, err := ParseAxis(text); err == nil {
			t.Errorf("%q: %q, expected an error", text, a)
		}
	}
}

func TestPlan(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "sweep")
	p := newPlan(t, folder, "n=1,2", `s="a/b",c`)
	var names []string
	for _, point := range p.Points() {
		names = append(names, point.Name)
	}
	if got := strings.Join(names, " "); got != "0000-n=1-s=_a_b_ 0001-n=1-s=c 0002-n=2-s=_a_b_ 0003-n=2-s=c" {
		t.Errorf("points %s", got)
	}
	newPlan(t, folder, "n=1,2", `s="a/b",c`) // the same again
	plan := filepath.Join(folder, planFile)
	text, err := os.ReadFile(plan)
	if err != nil || !strings.Contains(string(text), `"schema": 1`) {
		t.Fatalf("%s, %v, expected a plan of schema 1", text, err)
	}
	os.WriteFile(plan, []byte(strings.Replace(string(text), "schema", "version", 1)), 0o644)
	newPlan(t, folder, "n=1,2", `s="a/b",c`) // as an older version wrote it
	notebook := filepath.Join(t.TempDir(), "x.ipynb")
	os.WriteFile(notebook, []byte("{ }"), 0o644)
	for what, axes := range map[string][]Axis{"changed notebook": p.Axes, "other values": {{"n", []string{"1"}}}} {
		if _, err := NewPlan(notebook, axes, folder); err == nil || !strings.Contains(err.Error(), "holds another sweep") {
			t.Errorf("%s: %v, expected that the folder is taken", what, err)
		}
	}
	many := make([]string, 101)
	if _, err := NewPlan(notebook, []Axis{{"n", many}, {"m", many}}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "more than 10000 points") {
		t.Errorf("%v, expected too many points", err)
	}
	if _, err := NewPlan(notebook, []Axis{{"n", []string{"1"}}, {"n", []string{"2"}}}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "n is set twice") {
		t.Errorf("%v, expected that n is set once", err)
	}
}

func TestLocal(t *testing.T) {
	folder := t.TempDir()
	p := newPlan(t, folder, "n=100,13,400")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var progress strings.Builder
	err = p.Local(context.Background(), self, "x.ipynb", []string{"cuda:0", "cuda:1"}, &progress)
	if err == nil || !strings.Contains(err.Error(), "1 of 3 points failed") || !strings.Contains(progress.String(), "log: run: 13 is not run") {
		t.Errorf("%v, %s, expected that the second point failed, and why", err, progress.String())
	}
	r, paths, err := p.Merge()
	if err != nil || len(r.Rows) != 2 || len(r.Missing) != 1 || r.Rows[1].MedianNS != 400 || !strings.Contains(r.Rows[0].Device, "--device cuda:") {
		t.Errorf("%+v, %v, expected two points on the devices, one missing", r, err)
	}
	page, err := os.ReadFile(paths[0])
	if err != nil || !strings.Contains(string(page), "<td>400 ns</td>") || !strings.Contains(string(page), "<li>0001-n=13: run: 13 is not run</li>") || !strings.Contains(string(page), "(time).</p>") {
		t.Errorf("%v:\n%s, expected a table of both points", err, page)
	}
	if data, err := os.ReadFile(paths[1]); err != nil || strings.Count(string(data), "\n") != 3 || !strings.HasPrefix(string(data), "point,n,device,") {
		t.Errorf("%s, %v, expected a line a row", data, err)
	}
	var back Report
	if data, err := os.ReadFile(paths[2]); err != nil || json.Unmarshal(data, &back) != nil || len(back.Rows) != 2 {
		t.Errorf("%s, %v, expected the report", data, err)
	}
	if r, _, err := newPlan(t, t.TempDir(), "n=1").Merge(); err != nil || len(r.Missing) != 1 || r.Missing[0].Why != "it has not run" {
		t.Errorf("%+v, %v, expected that the point has not run", r, err)
	}
	// A point that has passed is not run again.
	progress.Reset()
	p.Local(context.Background(), self, "x.ipynb", []string{""}, &progress)
	if strings.Count(progress.String(), "point ") != 1 || !strings.HasPrefix(progress.String(), "1 of 3 points are missing") {
		t.Errorf("%s, expected the failed point only", progress.String())
	}
}

func TestLocalInterrupted(t *testing.T) {
	p := newPlan(t, t.TempDir(), "n=99,100")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(t.TempDir(), "point")
	t.Setenv(filesVariable, files)
	exists := func(end string) bool {
		_, err := os.Stat(files + end)
		return err == nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if exists(".waits") {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	err = p.Local(ctx, self, "x.ipynb", []string{""}, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "interrupted, 2 points are missing: the same command continues") || !exists(".interrupted") {
		t.Errorf("%v, the point was interrupted: %v, expected an interrupt that the point gets", err, exists(".interrupted"))
	}
}

func TestArray(t *testing.T) {
	for _, test := range []struct {
		points     []int
		concurrent int
		want       string
	}{{[]int{0}, 0, "0"}, {[]int{0, 1, 2}, 2, "0-2%2"}, {[]int{0, 2, 3, 4, 9}, 0, "0,2-4,9"}} {
		var points []Point
		for _, i := range test.points {
			points = append(points, Point{Index: i})
		}
		if got := (Slurm{Concurrent: test.concurrent}).array(points); got != test.want {
			t.Errorf("%v: %s, expected %s", test.points, got, test.want)
		}
	}
}

// Slurm's commands that are missing, or fail, are one line.
func TestSlurmRefuses(t *testing.T) {
	p := newPlan(t, t.TempDir(), "n=1")
	t.Setenv("PATH", t.TempDir())
	err := Slurm{}.Submit(context.Background(), p, "warpbook", "x.ipynb", &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "expected Slurm's commands") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, expected that sbatch is missing", err)
	}
	sbatch := filepath.Join(os.Getenv("PATH"), "sbatch")
	if err := os.WriteFile(sbatch, []byte("#!/bin/sh\necho 'invalid partition' >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = Slurm{Partition: "x"}.Submit(context.Background(), p, "warpbook", "x.ipynb", &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "sbatch: exit status 1: invalid partition") {
		t.Errorf("%v, expected what sbatch said", err)
	}
}

func TestOne(t *testing.T) {
	p := newPlan(t, t.TempDir(), "n=100,200")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to do
		if err := p.One(context.Background(), self, "x.ipynb", 1, &strings.Builder{}); err != nil {
			t.Error(err)
		}
	}
	if missing := p.Missing(); len(missing) != 1 || missing[0].Index != 0 {
		t.Errorf("%v are missing, expected point 0", missing)
	}
	if err := p.One(context.Background(), self, "x.ipynb", 2, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "point 2, expected 0 to 1") {
		t.Errorf("%v, expected that there is no point 2", err)
	}
}
