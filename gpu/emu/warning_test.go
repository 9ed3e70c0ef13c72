package emu

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestWarningsArePrinted: a division by zero is a warning, once per instruction, if no
// caller receives warnings; the launch continues.
func TestWarningsArePrinted(t *testing.T) {
	const body = "mov.u32 %r5, 7; sub.u32 %r6, %t, %t; div.u32 %r7, %r5, %r6; rem.s32 %r6, %r5, %r6; st.global.u32 [%p1], %r7;"
	j := newJob(t, "", body, 2, 64)
	var out bytes.Buffer
	j.device.SetOutput(&out)
	if err := j.device.Launch(j.launch); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "warning: gpu: op: div.u32 at test.ptx:") || !strings.Contains(got, "the divisor is 0") {
		t.Errorf("printed %q, expected a line for div and one for rem", got)
	}
	out.Reset()
	j.launch.Checks = gpu.CheckAll &^ gpu.CheckDivision
	if err := j.device.Launch(j.launch); err != nil || out.Len() > 0 {
		t.Errorf("without the check: %v, printed %q", err, out.String())
	}
	var warnings []*gpu.Fault
	j.launch.Checks, j.launch.Warnings = 0, &warnings
	if err := j.device.Launch(j.launch); err != nil || out.Len() > 0 || len(warnings) != 2 || !errors.Is(warnings[0], gpu.ErrDivision) {
		t.Errorf("%v, printed %q, warnings %v, expected 2", err, out.String(), warnings)
	}
}
