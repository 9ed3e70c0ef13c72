package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"warpbook/ops"
	"warpbook/ops/results"
)

// own are the runs of a reader's own folder: the figures of operators that each holds.
// Notebooks look for these names.
var own = []struct {
	name, title string
	operators   []string
}{
	{"gemm_ladder", "the ladder", []string{"gemm"}},
	{"gemm_times", "beside the libraries", []string{"gemm"}},
	{"gemm_tensor", "tensor cores", []string{"gemm_bf16", "gemm_fp16", "gemm_tf32"}},
	{"gemm_fused", "batches, and bias with ReLU", []string{"gemm_batched", "gemm_bias_relu"}},
	{"reduce_ladder", "the ladder", []string{"reduce"}},
}

// runOwn writes a file of folder for each run that figures hold.
func runOwn(figures io.Reader, folder string, memory float64, log io.Writer) error {
	var lines []string
	of := map[string][]string{} // lines by operator
	in := bufio.NewScanner(figures)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var x figure
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			return fmt.Errorf("line %.60q: %w", in.Text(), err)
		}
		lines = append(lines, in.Text())
		of[x.Operator] = append(of[x.Operator], in.Text())
		if x.Name == "limit_read" && x.GBps > 0 && memory == 0 {
			memory = x.GBps / 1000
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	// One device, driver and commit, whatever operator a line is of.
	var from source
	for i, line := range lines {
		var x figure
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			return err
		}
		if err := from.check(i+1, x); err != nil {
			return err
		}
	}
	written := 0
	for _, run := range own {
		var part []string
		for _, operator := range run.operators {
			part = append(part, of[operator]...)
		}
		if len(part) == 0 {
			continue
		}
		if err := writeOwn(folder, run.name, run.title, part, memory); err != nil {
			return fmt.Errorf("%s: %w", run.name, err)
		}
		fmt.Fprintln(log, "wrote", filepath.Join(folder, run.name+".json"))
		written++
	}
	if written == 0 {
		return errors.New("no figure of gemm or reduce, expected lines of ops/cmd/bench")
	}
	return nil
}

// writeOwn makes a run of lines. Its title names the device.
func writeOwn(folder, name, title string, lines []string, memory float64) error {
	operator, _, _ := strings.Cut(name, "_")
	f := file{Roofs: ops.Roofs{MemoryTBPS: memory}}
	if err := f.take(strings.NewReader(strings.Join(lines, "\n")), operator); err != nil {
		return err
	}
	device, _, _ := strings.Cut(f.Device, ",")
	f.Title = title + " on " + device
	f.Roofs.Method, _, _ = strings.Cut(f.Roofs.Method, "; memory: ")
	if memory > 0 {
		f.Roofs.Method = strings.TrimPrefix(f.Roofs.Method+"; memory: limit_read among the same figures, or --memory", "; ")
	}
	text, err := f.text()
	if err != nil {
		return err
	}
	if _, err := results.ParseMeasured(ops.Operators(), name, text); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".json"), text, 0o644)
}
