package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// A report that ncu 2025.3 wrote on an H200: its launches in order, numbers, units, and
// metrics that it does not have.
func TestReadReport(t *testing.T) {
	launches, err := ReadReport("testdata/ncu.csv")
	if err != nil || len(launches) != 3 {
		t.Fatalf("%d launches, %v", len(launches), err)
	}
	const wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
	c := launches[2]
	if n, err := c.Number(wavefronts); c.Entry != "strided" || n != 32 || err != nil {
		t.Errorf("%s of %s is %v, %v, expected 32 of strided", wavefronts, c.Entry, n, err)
	}
	if _, err := c.Number("sm__none.sum"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("%v, expected %v", err, gpu.ErrNotFound)
	}
	if text := c.Text("sm__none.sum"); text != "not measured on this GPU" {
		t.Errorf("%q of a metric that ncu does not have", text)
	}
	if _, err := c.Number("Kernel Name"); err == nil || !strings.Contains(err.Error(), "expected a number") {
		t.Errorf("%v of a value that is no number", err)
	}
}

func TestUnderProfilerRefuses(t *testing.T) {
	dev := device.MustOpen("emu")
	defer dev.Close()
	err := UnderProfiler(dev, "report", nil, "", func() error { t.Error("it works without a profiler"); return nil })
	if !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected %v", err, gpu.ErrUnsupported)
	}
}

// ncu keeps its report where it is asked to, and replaces no file.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ncu"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	dev := device.MustOpen("emu")
	defer dev.Close()
	s := &stub{Device: dev}
	worked := 0
	under := func(export string) error {
		return UnderProfiler(s, filepath.Join(dir, "report"), []string{"sm__cycles_active.avg"}, export, func() error { worked++; return nil })
	}
	export := filepath.Join(dir, "rung")
	for _, to := range []string{"", export} {
		if err := under(to); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.command, " "); strings.HasSuffix(got, "--set full --export "+export) != (to != "") {
			t.Errorf("export %q: started as %s", to, got)
		}
	}
	if err := os.WriteFile(export+".ncu-rep", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := under(export); err == nil || !strings.Contains(err.Error(), "is there already") || worked != 2 {
		t.Errorf("%v, worked %d times, expected that a report is not replaced", err, worked)
	}
}
