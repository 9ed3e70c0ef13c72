package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/runs"
)

// noise makes a run with rows whose samples lie around 100 us.
type noise struct {
	*rand.Rand
	rows, samples int
	spread        float64
}

func newNoise(t *testing.T) noise {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return noise{rand.New(rand.NewPCG(seed, 0)), 20, 50, 0.01}
}

// run is one run; the times of row 0 are multiplied.
func (n noise) run(times float64) runs.Run {
	r := runs.Run{Notebook: "x", Environment: map[string][]string{"device": {"A"}}, Timings: map[runs.Key]runs.Timing{}}
	for i := range n.rows {
		key := runs.Key{Notebook: "x", Cell: "c", Title: "latency", Row: fmt.Sprint("row ", i)}
		var t runs.Timing
		for range n.samples {
			ns := 1e5 * math.Exp(n.spread*n.NormFloat64())
			if i == 0 {
				ns *= times
			}
			t.Samples = append(t.Samples, math.Round(ns/32)*32) // as a GPU's clock
		}
		t.Median = t.Samples[0]
		r.Keys, r.Timings[key] = append(r.Keys, key), t
	}
	return r
}

func set(runs ...runs.Run) Set { return Set{Name: "set", Runs: runs} }

var usual = Options{Same: 0.01}

func TestEqualSets(t *testing.T) {
	n, apart := newNoise(t), 0
	for range 100 {
		for _, r := range Compare(set(n.run(1)), set(n.run(1)), usual).Rows {
			if r.Verdict != Same {
				apart++
			}
		}
	}
	if apart > 5 {
		t.Errorf("%d rows of 100 comparisons of equal sets are not SAME, expected at most 5", apart)
	}
}

// Without the correction for the number of rows, 5 % of the rows of equal sets differ significantly.
func TestCorrection(t *testing.T) {
	n, apart := newNoise(t), 0
	for range 100 {
		for _, r := range Compare(set(n.run(1)), set(n.run(1)), Options{}).Rows {
			if r.Verdict == Faster || r.Verdict == Slower {
				apart++
				break
			}
		}
	}
	if apart > 17 { // 5 expected, 5 standard deviations more
		t.Errorf("%d of 100 comparisons of equal sets tell a row apart, expected 5", apart)
	}
}

func TestPlantedDifference(t *testing.T) {
	n, missed := newNoise(t), 0
	for times, want := range map[float64]string{1.03: Slower, 0.97: Faster} {
		for range 50 {
			c := Compare(set(n.run(1)), set(n.run(times)), usual)
			r := c.Rows[0]
			if r.Verdict != want || math.Abs(r.Ratio-times) > 0.01 {
				t.Errorf("%+v, expected %s by %g", r, want, times)
			}
			if r.Low > times || r.High < times {
				missed++
			}
			if got := len(c.SlowerThan(0.02)); got != map[string]int{Slower: 1}[want] {
				t.Errorf("%s: %d rows slower than 2 %%", want, got)
			}
			if got := c.SlowerThan(0.05); len(got) != 0 {
				t.Errorf("%d rows slower than 5 %%, expected 0", len(got))
			}
		}
	}
	if missed > 5 { // 5 % at most is what the intervals promise; less than 1 % was seen
		t.Errorf("%d of 100 intervals miss the planted ratio, expected at most 5", missed)
	}
}

func TestManyRunsCompareMedians(t *testing.T) {
	n := newNoise(t)
	process := func(times float64) (list []runs.Run) { // each process has a speed of its own
		for range 8 {
			list = append(list, n.run(times*math.Exp(0.02*n.NormFloat64())))
		}
		return list
	}
	c := Compare(set(process(1)...), set(process(1.2)...), usual)
	if r := c.Rows[0]; r.Verdict != Slower || r.A.Samples != 8 || !strings.Contains(c.Method, "medians of runs (8 and 8)") {
		t.Errorf("%+v by %s, expected SLOWER by 8 medians", r, c.Method)
	}
}

func TestVerdicts(t *testing.T) {
	at := func(low, median, high float64) runs.Timing { return runs.Timing{Low: low, Median: median, High: high} }
	for _, test := range []struct {
		a, b runs.Timing
		want string
	}{
		{at(99, 100, 101), at(99, 100, 101), Same},
		{at(99, 100, 101), at(100, 102, 103), Same},      // overlap
		{at(99, 100, 101), at(102, 103, 104), Slower},    // apart
		{at(99, 100, 101), at(95, 96, 97), Faster},       //
		{at(100, 100, 100), at(100.5, 100.5, 101), Same}, // apart by less than 1 %
		{at(80, 100, 120), at(90, 100, 110), Ambiguous},  // too wide
		{runs.Timing{Samples: []float64{5, 5, 5, 5, 5}}, runs.Timing{Samples: []float64{5, 5, 5, 5, 5}}, Same},
		{runs.Timing{Samples: []float64{1, 2, 3}}, runs.Timing{Samples: []float64{4, 5, 6}}, Ambiguous}, // too few to tell
		{runs.Timing{Samples: []float64{100, 101, 102, 103, 104, 105, 106}}, runs.Timing{Samples: []float64{200, 201, 202, 203, 204, 205, 206}}, Slower},
	} {
		one := func(x runs.Timing) Set {
			key := runs.Key{Row: "r"}
			return set(runs.Run{Keys: []runs.Key{key}, Timings: map[runs.Key]runs.Timing{key: x}})
		}
		if r := Compare(one(test.a), one(test.b), usual).Rows[0]; r.Verdict != test.want {
			t.Errorf("%v and %v: %+v, expected %s", test.a, test.b, r, test.want)
		}
	}
}

// A GPU beside an emulation has no verdict, however far apart their times are.
func TestNoVerdictBesideAnEmulation(t *testing.T) {
	gpu := runs.Timing{Low: 99, Median: 100, High: 101, Samples: []float64{100, 100, 100, 100, 100, 100}, Clock: record.Time}
	emulated := runs.Timing{Low: 9900, Median: 10000, High: 10100, Samples: []float64{1e4, 1e4, 1e4, 1e4, 1e4, 1e4}, Clock: record.EmulatorTime}
	one := func(x runs.Timing) Set {
		key := runs.Key{Row: "r"}
		return set(runs.Run{Keys: []runs.Key{key}, Timings: map[runs.Key]runs.Timing{key: x}})
	}
	for _, test := range []struct {
		a, b runs.Timing
		want string
	}{{gpu, emulated, NoVerdict}, {emulated, gpu, NoVerdict}, {gpu, gpu, Same}, {emulated, emulated, Same}} {
		c := Compare(one(test.a), one(test.b), usual)
		if r := c.Rows[0]; r.Verdict != test.want || c.Judged() != (test.want == Same) || (r.P == nil) != (test.want == NoVerdict) || len(c.SlowerThan(0)) > 0 {
			t.Errorf("%s and %s: %+v, expected %s", test.a.Clock, test.b.Clock, r, test.want)
		}
		if said := strings.Contains(c.Summary(), "1 without a verdict"); said != (test.want == NoVerdict) {
			t.Errorf("%s and %s: %s", test.a.Clock, test.b.Clock, c.Summary())
		}
	}
}

// file is the file of a run, with one figures record.
func file(device, title, row string, verdict string, samples ...int) string {
	data, err := json.Marshal(map[string]any{
		"schema": 1, "notebook": "x.ipynb", "started": "2026-11-23T07:00:00Z", "complete": true,
		"cells": []any{map[string]any{"id": "c", "records": []any{
			map[string]any{"schema": 1, "kind": "figures", "title": title, "environment": map[string]any{"device": device, "commit": "commit abc", "date": device},
				"rows": []any{map[string]any{"name": row, "verdict": verdict, "clock": "time", "total": map[string]any{"median_ns": samples[0], "low_ns": samples[0], "high_ns": samples[0], "samples_ns": samples}}}},
			"not a record", map[string]any{"schema": 99, "kind": "figures"}}}},
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "runs", "a.json"), file("GPU A", "t", "r", "PASS", 100, 100, 101, 102, 103, 104))
	write(t, filepath.Join(dir, "runs", "below", "b.json"), file("GPU B", "t", "r", "FAIL", 200, 200, 201, 202, 203, 204))
	write(t, filepath.Join(dir, "runs", "other.json"), `{"cells": 1}`)
	write(t, filepath.Join(dir, "runs", "list.json"), `[]`)
	store := filepath.Join(dir, "runs")
	for argument, want := range map[string]int{a: 1, store: 2, "device:GPU B": 1, "device:GPU": 2, "commit:abc": 2} {
		if s, err := Load(argument, store); err != nil || len(s.Runs) != want {
			t.Errorf("%s: %d runs, %v, expected %d", argument, len(s.Runs), err, want)
		}
	}
	first, _ := Load("device:GPU A", store)
	second, _ := Load("device:GPU B", store)
	c := Compare(first, second, usual)
	if len(c.Rows) != 1 || c.Rows[0].Verdict != Slower || len(c.Verdicts) != 1 || c.Verdicts[0].B != "FAIL" || len(c.Environments) != 1 || c.Environments[0].Name != "device" {
		t.Errorf("%+v, expected one slower row, a changed verdict and another device", c)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cut.json": file("d", "t", "r", "PASS", 1)[:100], "empty.json": "", "newer.json": `{"schema": 2, "notebook": "x", "cells": []}`,
		"other.json": `{"a": 1}`, "binary.json.gz": "\x1f\x8b\x08", "types.json": `{"notebook": 5}`,
	} {
		if _, err := Load(write(t, filepath.Join(dir, name), text), ""); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "runs: ") {
			t.Errorf("%s: %v, expected one line with the file", name, err)
		}
	}
	for _, argument := range []string{filepath.Join(dir, "missing"), t.TempDir(), "device:none", "commit:"} {
		if _, err := Load(argument, t.TempDir()); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(argument, dir)) {
			t.Errorf("%s: %v, expected one line with the argument", argument, err)
		}
	}
	// A broken part of a record drops that record only.
	broken := `{"notebook": "x", "cells": [{"id": "c", "records": [{"kind": "figures", "rows": 5}, {"kind": "figures", "title": "t", "rows": [{"name": "r", "total": {"median_ns": -1}}]}]}]}`
	if s, err := Load(write(t, filepath.Join(dir, "broken.json"), broken), ""); err != nil || len(s.Runs[0].Timings) != 0 {
		t.Errorf("%+v, %v, expected a run without timings", s, err)
	}
}

func TestKeptRunsAreRead(t *testing.T) {
	folder := t.TempDir()
	path, err := runs.Keep(folder, "x.ipynb", time.Now(), func(w io.Writer) error {
		_, err := w.Write([]byte(file("GPU", "t", "r", "PASS", 1)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range []string{path, folder, "device:GPU"} {
		if s, err := Load(argument, folder); err != nil || len(s.Runs) != 1 {
			t.Errorf("%s: %v, expected a run", argument, err)
		}
	}
}

// Texts of a file control neither the terminal nor the page.
// TestGroups: two tables of one title are two groups, whose headings name the cells.
func TestGroups(t *testing.T) {
	c := Comparison{}
	for _, key := range []runs.Key{{Title: "latency", Cell: "a", Row: "x"}, {Title: "latency", Cell: "a", Row: "y"}, {Title: "latency", Cell: "b", Row: "x"}, {Title: "other", Cell: "b", Row: "x"}} {
		c.Rows = append(c.Rows, Row{Key: key, Ratio: 1, Low: 1, High: 1})
	}
	want := []string{"latency (cell a) 2", "latency (cell b) 1", "other 1"}
	var got []string
	for _, g := range c.Groups() {
		got = append(got, fmt.Sprint(g.Heading, " ", len(g.Rows)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	for name, write := range map[string]func(io.Writer) error{"HTML": Report{&c}.HTML, "Markdown": Report{&c}.Markdown, "text": Report{&c}.Text} {
		var b strings.Builder
		if err := write(&b); err != nil || strings.Count(b.String(), "latency (cell ") != 2 {
			t.Errorf("%s: %v, expected two headings in\n%s", name, err, &b)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	dir := t.TempDir()
	hostile := "\x1b[2J<script>alert(1)</script>|`"
	a := write(t, filepath.Join(dir, "a.json"), file(hostile, hostile, hostile, "PASS", 100, 101))
	b := write(t, filepath.Join(dir, "b.json"), file("b", hostile, hostile, hostile, 100, 101))
	sa, errA := Load(a, "")
	sb, errB := Load(b, "")
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	report := Report{Compare(sa, sb, usual), Compare(sa, sa, usual)}
	var text, md, html, js strings.Builder
	for _, err := range []error{report.Text(&text), report.Markdown(&md), report.HTML(&html), report.JSON(&js)} {
		if err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(text.String()+md.String(), "\x1b") || strings.Contains(html.String()+md.String(), "<script>") {
		t.Errorf("a text of the file controls the output: %q", text.String()+md.String())
	}
	if !strings.Contains(html.String(), "default-src 'none'") || strings.Count(html.String(), "<svg") != 2 {
		t.Errorf("the page has no policy or no plots:\n%s", html.String())
	}
	var back struct{ Schema, Comparisons any }
	if err := json.Unmarshal([]byte(js.String()), &back); err != nil || back.Schema != 1.0 {
		t.Errorf("%v, %v, expected JSON of schema 1", back.Schema, err)
	}
}
