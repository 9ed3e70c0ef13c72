package reduce

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
	"warpbook/gpu/ptxfile"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// own is an entry of committed PTX under another name, as a cell would have it.
func own(t *testing.T, entry, name string, change ...string) *compile.Entry {
	t.Helper()
	text, err := ptxfile.ReadFile("reduce.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m, err := compile.PTX("cell1.ptx", strings.NewReplacer(append(change, entry, name)...).Replace(text), 2)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A kernel of a cell is a rung: checked, timed, counted and told as the others
// are, at its place; the operator itself stays as it was.
func TestRung(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	before := len(Operator.Variants)
	rungs, err := Operator.With(ladder.Rung{Entry: own(t, "reduce_v3_first_add", "mine"), Adds: "nothing", After: "reduce_v3_first_add", Like: "reduce_v3_first_add"})
	if err != nil {
		t.Fatal(err)
	}
	if len(Operator.Variants) != before || len(rungs.Variants) != before+1 {
		t.Errorf("%d and %d variants, expected %d and one more", len(Operator.Variants), len(rungs.Variants), before)
	}
	for _, n := range []int{0, 1, 511, 513, 100_003} {
		b := optest.NewBench(t, dev, rungs, 7, n)
		checks := optest.CheckAll(t, b, "random", "reduce_v3_first_add", "mine")
		if checks.Rows[1].Result != checks.Rows[0].Result || !strings.Contains(checks.Environment.PTX, "mine of cell1.ptx") {
			t.Errorf("n = %d, seed 7: %v, expected the bits of the same kernel; %s", n, checks.Rows, checks.Environment.PTX)
		}
	}
	b := optest.NewBench(t, dev, rungs, 7, 1000)
	counts, err := b.Count("reduce_v3_first_add", "mine")
	if err != nil || counts.Rows[0].Total != counts.Rows[1].Total {
		t.Errorf("counters differ: %v", err)
	}
	latencies, err := b.Time("mine")
	if err != nil || len(latencies.Names()) != 1 {
		t.Errorf("not timed: %v", err)
	}
	if code, err := rungs.Code("mine"); err != nil || !strings.Contains(code.Text, "mine") {
		t.Errorf("code: %v", err)
	}
}

// A rung that is wrong fails the checks of the ladder.
func TestWrongRung(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	rungs := Operator.MustWith(ladder.Rung{Entry: own(t, "reduce_v3_first_add", "mine", "\tadd.ftz.f32", "\tsub.ftz.f32", "\tadd.f32", "\tsub.f32"), Like: "reduce_v3_first_add"})
	checks, err := optest.NewBench(t, dev, rungs, 7, 1000).Check("mine")
	if err != nil || checks.Passed() || checks.Rows[0].Verdict != ladder.Fail {
		t.Errorf("%+v, %v, expected a failure", checks, err)
	}
}

func TestRungRefused(t *testing.T) {
	e := own(t, "reduce_v3_first_add", "mine")
	for name, r := range map[string]ladder.Rung{
		"no entry":      {Like: "reduce_v3_first_add"},
		"neither":       {Entry: e},
		"both":          {Entry: e, Like: "reduce_v3_first_add", Plan: oneThread},
		"unknown like":  {Entry: e, Like: "reduce_v3"},
		"unknown place": {Entry: e, Like: "reduce_v3_first_add", After: "reduce_v3"},
		"on the CPU":    {Entry: e, Like: "cpu_serial"},
		"taken":         {Entry: own(t, "nothing", "reduce_serial"), Like: "reduce_serial"},
	} {
		if _, err := Operator.With(r); err == nil || strings.Contains(err.Error(), "\n") ||
			!errors.Is(err, gpu.ErrArgument) && !errors.Is(err, gpu.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
