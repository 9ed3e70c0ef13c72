package runs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// oneRun is the file of a run with a timed row.
func oneRun(device string, ns int) string {
	return fmt.Sprintf(`{"schema": 1, "notebook": "x.ipynb", "started": "2026-11-23T07:00:00Z", "elapsed_s": 2.5, "complete": true, "passed": true,
		"correctness_rows": {"total": 3, "passed": 3, "failed_as_expected": 1},
		"cells": [{"id": "c", "records": [{"schema": 1, "kind": "figures", "title": "latency", "environment": {"device": %q, "date": "now"},
		"rows": [{"name": "rung", "verdict": "PASS", "clock": "time", "total": {"median_ns": %d, "low_ns": 1, "high_ns": 9, "samples_ns": [1, 2]}}]}]}]}`, device, ns)
}

func keep(tb testing.TB, folder string, at time.Time, text string) string {
	tb.Helper()
	path, err := Keep(folder, "x.ipynb", at, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestHistory(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs")
	if list, err := History(folder); len(list) != 0 || err != nil {
		t.Errorf("%v, %v, expected nothing where no run was kept", list, err)
	}
	begun := time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)
	for i := range 3 {
		keep(t, folder, begun.Add(time.Duration(i)*time.Hour), oneRun(fmt.Sprint("GPU ", i), 100+i))
	}
	damaged := keep(t, folder, begun.Add(5*time.Hour), "{")
	os.WriteFile(filepath.Join(folder, "other.txt"), nil, 0o600)
	check := func(what string) {
		t.Helper()
		list, err := History(folder)
		if err != nil || len(list) != 4 || list[0].Problem == nil || !strings.Contains(list[0].Problem.Error(), damaged) {
			t.Fatalf("%s: %+v, %v, expected three runs behind one that is damaged", what, list, err)
		}
		for i, s := range list[1:] {
			if s.Problem != nil || s.Says("device") != fmt.Sprint("GPU ", 2-i) || !s.Passed || s.Rows.Total != 3 || len(s.Timed) != 1 || s.Timed[0].Median != float64(102-i) || s.Timed[0].Samples != nil {
				t.Errorf("%s: %+v, expected run %d", what, s, 2-i)
			}
			if data, err := Open(s.Path, fileBytes); err != nil || len(data) == 0 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	check("at first")
	summaries, _ := filepath.Glob(filepath.Join(folder, "*"+summaryExtension))
	if len(summaries) != 3 {
		t.Fatalf("%d summaries are kept, expected 3", len(summaries))
	}
	check("from summaries")
	for i, text := range []string{"", `{"version": 1}`, `{"schema": 1, "bytes": 1}`} { // damaged, older, of another file
		if err := os.WriteFile(summaries[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for range 4 { // programs at once
		all.Go(func() { History(folder) })
	}
	all.Wait()
	check("rebuilt")
	if err := os.Chmod(folder, 0o500); err == nil {
		for _, s := range summaries {
			os.Remove(s)
		}
		check("in a folder that cannot be written")
		os.Chmod(folder, 0o700)
	}
}

// A summary is what is read: that of a run that is not there any more, in its
// place, would be shown.
func TestSummaryIsRead(t *testing.T) {
	folder := t.TempDir()
	path := keep(t, folder, time.Now(), oneRun("GPU", 100))
	first, _ := History(folder)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if second, _ := History(folder); second[0].Problem != nil || second[0].Notebook != first[0].Notebook {
		t.Errorf("%+v, expected the summary", second[0])
	}
}

// BenchmarkHistory lists 1 000 runs: from their summaries, and without.
func BenchmarkHistory(b *testing.B) {
	folder := b.TempDir()
	text := oneRun("GPU", 100)
	if data, err := os.ReadFile("../../notebooks/results/h200/03-transpose.json"); err == nil {
		text = string(data)
	}
	for i := range 1000 {
		keep(b, folder, time.Unix(int64(i), 0), text)
	}
	for _, from := range []string{"records", "summaries"} {
		b.Run(from, func(b *testing.B) {
			for range b.N {
				if from == "records" {
					b.StopTimer()
					summaries, _ := filepath.Glob(filepath.Join(folder, "*"+summaryExtension))
					for _, s := range summaries {
						os.Remove(s)
					}
					b.StartTimer()
				}
				if list, err := History(folder); len(list) != 1000 || err != nil {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

// The name of a GPU does not ask for its emulator.
func TestSaysDevice(t *testing.T) {
	for _, c := range []struct {
		part, text string
		want       bool
	}{
		{"NVIDIA H200 (sm_90)", "H200", true}, {"emulator of NVIDIA H200", "H200", false}, {"emulator of NVIDIA H200", "NVIDIA H200", false},
		{"emulator of NVIDIA H200", "emulator", true}, {"emulator of NVIDIA H200", "emulator of NVIDIA H200", true}, {"NVIDIA H200", "emulator", false},
	} {
		r, s := Run{Environment: map[string][]string{"device": {c.part}}}, Summary{Environment: map[string][]string{"device": {c.part}}}
		if r.Says("device", c.text) != c.want || s.Has("device", c.text) != c.want {
			t.Errorf("%q of %q: %v and %v, expected %v", c.text, c.part, r.Says("device", c.text), s.Has("device", c.text), c.want)
		}
	}
	if !(Summary{}).Has("device", "") {
		t.Error("no text asks for a device")
	}
}
