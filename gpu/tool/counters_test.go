package tool

import (
	"errors"
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
	err := UnderProfiler(dev, "report", nil, func() error { t.Error("it works without a profiler"); return nil })
	if !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("%v, expected %v", err, gpu.ErrUnsupported)
	}
}
