package reduce

import (
	"slices"
	"strings"
	"testing"

	"warpbook/gpu/explain"
	"warpbook/ops/optest"
)

// The branch of the rung that chooses with % is explained, and gone in the next one. The
// conflicts of that, the strided rung, are explained by the numbers that the sequential rung,
// or a padded one, really has.
func TestExplainConflicts(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 42, 256)
	r, err := b.Explain("reduce_v1_strided_index")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Findings, func(f *explain.Finding) bool { return f.Kind == explain.BankConflict })
	if i < 0 {
		t.Fatalf("no bank conflict in %q", r.Notes())
	}
	f := r.Findings[i]
	if len(f.Remedies) != 3 {
		t.Fatalf("remedies %v, expected padding, an exclusive or and neighbouring elements", f.Remedies)
	}
	for _, remedy := range f.Remedies {
		if remedy.Before <= remedy.After || remedy.Known != 1 || strings.HasPrefix(remedy.Change, "let") && remedy.After != f.Best {
			t.Errorf("%v, expected it to remove all %d conflicts", remedy, f.Cost-f.Best)
		}
	}
	divergent := func(f *explain.Finding) bool { return f.Kind == explain.Divergence }
	if slices.ContainsFunc(r.Findings, divergent) {
		t.Errorf("%q, expected lanes that go the same way", r.Notes())
	}
	naive, err := b.Explain("reduce_v0_interleaved")
	if err != nil || !slices.ContainsFunc(naive.Findings, divergent) {
		t.Errorf("%v, %q, expected the branch that is chosen with %%", err, naive.Notes())
	}
	next, err := b.Explain("reduce_v2_sequential")
	if err != nil || len(next.Findings) != 0 {
		t.Errorf("%v, %q, expected nothing to explain", err, next.Notes())
	}
	counts, err := b.Count("reduce_v2_sequential")
	if err != nil || counts.Rows[0].Total.SharedLoad.Conflicts != 0 {
		t.Errorf("%v, %v, expected no conflicts", counts, err)
	}
}
