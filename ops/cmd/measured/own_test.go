package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/ops"
)

// Figures of a reader's GPU become a folder of files that notebooks can read, and
// their titles name that GPU. Without a verdict by turns the intervals decide.
func TestOwnFolder(t *testing.T) {
	const place = `"device":"NVIDIA A100","environment":{"device":"NVIDIA A100 (sm_80, driver 1.2, CUDA 13.0)","data":"seed 1","method":"a graph","date":"2026-11-22T10:00:00Z","commit":"commit 0123456789ab"}}` + "\n"
	first, second := onGPU(ops.Gemm)[0], onGPU(ops.Gemm)[1]
	lines := `{"operator":"gemm","name":"$FIRST","size":[256,256,256],"verdict":"PASS","median_ns":30000,"low_ns":29000,"high_ns":31000,"gpu":{"clock_mhz":1410},` + place +
		`{"operator":"gemm","name":"$SECOND","size":[256,256,256],"verdict":"PASS","median_ns":90000,"low_ns":30500,"high_ns":91000,` + place +
		`{"operator":"reduce","name":"$REDUCE","size":[1000],"verdict":"PASS","median_ns":5000,` + place +
		`{"operator":"reduce","name":"limit_read","size":[1000],"verdict":"PASS","median_ns":2000,"gbps":1500,"device":"NVIDIA A100"}` + "\n"
	lines = strings.NewReplacer("$FIRST", first, "$SECOND", second, "$REDUCE", onGPU(ops.Reduce)[0]).Replace(lines)
	folder := filepath.Join(t.TempDir(), "mine")
	var log bytes.Buffer
	if err := runOwn(strings.NewReader(lines), folder, 0, &log); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gemm_ladder", "gemm_times", "reduce_ladder"} {
		m, err := ops.MeasuredRun(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Title(), "NVIDIA A100") || strings.Contains(m.Title(), "H200") || m.Roofs.MemoryTBPS != 1.5 || m.GPU() != "NVIDIA A100" || strings.Contains(m.Roofs.Method, "notebooks/results") {
			t.Errorf("%s: title %q, device %q, roofs %+v", name, m.Title(), m.Device, m.Roofs)
		}
	}
	m, err := ops.MeasuredRun(filepath.Join(folder, "gemm_ladder"))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Verdict(first, second, 256, 256, 256); got != ops.Same {
		t.Errorf("29 to 31 against 30.5 to 91: %q, expected %s", got, ops.Same)
	}
	if got := m.Verdict(first, "gemm_none", 256, 256, 256); got != "" {
		t.Errorf("an absent rung: %q", got)
	}
	for text, want := range map[string]string{
		"": "no figure of gemm or reduce",
		strings.ReplaceAll(lines, "NVIDIA A100", "emulator of NVIDIA A100"): "emulated",
		lines + strings.ReplaceAll(lines, "NVIDIA A100", "NVIDIA L4"):       "expected \"NVIDIA A100\"",
	} {
		empty := t.TempDir()
		err := runOwn(strings.NewReader(text), empty, 0, &log)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
		if files, _ := os.ReadDir(empty); len(files) > 0 {
			t.Errorf("%v was written of refused figures", files)
		}
	}
}

// A cell's table in committed results becomes a file of figures.
func TestFiguresOfNotebook(t *testing.T) {
	results, err := os.ReadFile("../../../notebooks/results/h200/01-reduce.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []string{"latency-table", "flushed-table"} {
		lines, err := recordLines(bytes.NewReader(results), cell)
		if err != nil {
			t.Fatal(err)
		}
		var f file
		if err := f.take(lines, "reduce"); err != nil {
			t.Fatal(err)
		}
		last := onGPU(ops.Reduce)[len(onGPU(ops.Reduce))-1]
		if f.Times[0].US[last] == 0 || f.Times[0].US["torch_sum"] == 0 {
			t.Errorf("%s: no time of %s or of torch_sum", cell, last)
		}
		if turns := f.Times[0].Turns; turns != 1 {
			t.Errorf("%s: %d repetitions, expected 1: the cell was run once, whether it shows its table once or twice", cell, turns)
		}
	}
	if _, err := recordLines(bytes.NewReader(results), "no-such-cell"); err == nil || !strings.Contains(err.Error(), "no latency table") {
		t.Errorf("%v, expected that the cell has no latency table", err)
	}
}
