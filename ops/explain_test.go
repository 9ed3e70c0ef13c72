package ops

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/explain"
)

// TestExplain explains the conflicts of a rung: what its remedy is said to
// save, the rung that applies it really saves.
func TestExplain(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, Gemm, 42, 128, 128, 16)
	r, err := b.Explain("gemm_float4")
	if err != nil {
		t.Fatal(err)
	}
	saved := uint64(0)
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Instructions[0], "ld.shared") {
			saved += f.Remedies[0].Before - f.Remedies[0].After
		}
	}
	counts, err := b.Count("gemm_float4", "gemm_conflict_free")
	if err != nil {
		t.Fatal(err)
	}
	before, after := counts.Rows[0].Total.SharedLoad, counts.Rows[1].Total.SharedLoad
	if after.Conflicts != 0 || saved == 0 || saved != before.Wavefronts-after.Wavefronts {
		t.Errorf("the remedies save %d wavefronts, the next rung %d", saved, before.Wavefronts-after.Wavefronts)
	}
	notes := strings.Join(r.Notes(), "\n")
	for _, want := range []string{"bank conflict at gemm.cu:", "ld.shared.v4.f32", "m = 128, n = 128, k = 16", Pass} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes without %q:\n%s", want, notes)
		}
	}
	if parts := r.Parts(); len(parts) < 2 || parts[0] != any(r) {
		t.Errorf("%d parts, expected the table and pictures", len(parts))
	}
}

// TestExplainEveryVariant sums every rung up by source line: the lines are
// those of its own source, and their sum is what it counts.
func TestExplainEveryVariant(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	for _, c := range []struct {
		o    *Operator
		size []int
	}{{Reduce, []int{5000}}, {Gemm, []int{64, 64, 16}}} {
		b := newBench(t, dev, c.o, 42, c.size...)
		counts, err := b.Count()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range counts.Rows {
			r, err := b.Explain(row.Name)
			if err != nil {
				t.Fatal(err)
			}
			var sum gpu.Counters
			for _, l := range r.Lines {
				sum.WarpInstructions += l.Warps
				sum.ThreadInstructions += l.Threads
				sum.DivergentBranches += l.Divergent
				if l.Line > 0 && l.Text == "" && strings.HasPrefix(l.File, c.o.Name) {
					t.Errorf("%s: no text of %s:%d", row.Name, l.File, l.Line)
				}
			}
			if got, want := fmt.Sprint(sum.WarpInstructions, sum.ThreadInstructions, sum.DivergentBranches),
				fmt.Sprint(row.Total.WarpInstructions, row.Total.ThreadInstructions, row.Total.DivergentBranches); got != want {
				t.Errorf("%s: lines sum up to %s, counted %s", row.Name, got, want)
			}
		}
	}
}

// TestExplainRefuses names what cannot be explained.
func TestExplainRefuses(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, Reduce, 42, 1000)
	for name, want := range map[string]error{"cpu_serial": gpu.ErrUnsupported, "reduce_v9": gpu.ErrNotFound} {
		if _, err := b.Explain(name); !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", name, err, want)
		}
	}
}

// What a line asks of shared memory can be drawn where nothing conflicts, too.
func TestAccessWithoutConflict(t *testing.T) {
	dev, err := device.Open("emu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	b := newBench(t, dev, Gemm, 42, 128, 128, 16)
	for _, c := range []struct {
		rung, kind string
		wavefronts int // of the worst request
	}{{"gemm_double_buffer", explain.BankConflict, 8}, {"gemm_conflict_free", explain.SharedAccess, 4}} {
		r, err := b.Explain(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		place := ""
		for _, l := range r.Lines {
			if strings.Contains(l.Text, "*(float4*)to = *(const float4*)from;") {
				place = fmt.Sprintf("%s:%d", l.File, l.Line)
			}
		}
		f, err := r.Access(place, "bs")
		if err != nil {
			t.Fatal(err)
		}
		n, _ := f.Request.Wavefronts()
		columns, rows, text, _ := f.Cells()
		if f.Kind != c.kind || n != c.wavefronts || len(columns) != 32 || len(rows) != 32 || len(f.Legend()) != min(n, 6) {
			t.Errorf("%s: %s with %d wavefronts, %d x %d cells", c.rung, f.Kind, n, len(columns), len(rows))
		}
		for bank, row := range text { // one bank serves one word a wavefront
			seen := map[string]int{}
			for lane, number := range row {
				if other, twice := seen[number]; twice && number != "" {
					t.Errorf("%s: bank %d serves lanes %d and %d in wavefront %s", c.rung, bank, other, lane, number)
				}
				seen[number] = lane
			}
		}
		if _, err := r.Access(place, "cs"); !errors.Is(err, gpu.ErrNotFound) {
			t.Errorf("a variable that is not there: %v", err)
		}
	}
}
