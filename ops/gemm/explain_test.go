package gemm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/explain"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// TestExplain explains the conflicts of a rung: what its remedy is said to
// save, the rung that applies it really saves.
func TestExplain(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 42, 128, 128, 16)
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
	for _, want := range []string{"bank conflict at gemm.cu:", "ld.shared.v4.f32", "m = 128, n = 128, k = 16", ladder.Pass} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes without %q:\n%s", want, notes)
		}
	}
	if parts := r.Parts(); len(parts) < 2 || parts[0] != any(r) {
		t.Errorf("%d parts, expected the table and pictures", len(parts))
	}
}

// What a line asks of shared memory can be drawn where nothing conflicts, too.
func TestAccessWithoutConflict(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 42, 128, 128, 16)
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
