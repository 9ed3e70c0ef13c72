package reduce

import (
	"slices"
	"strings"
	"testing"

	"warpbook/gpu/explain"
	"warpbook/ops/optest"
)

// The strided rung's conflicts are explained by the numbers that the sequential rung,
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
	next, err := b.Explain("reduce_v2_sequential")
	if err != nil || len(next.Findings) != 0 {
		t.Errorf("%v, %q, expected nothing to explain", err, next.Notes())
	}
	counts, err := b.Count("reduce_v2_sequential")
	if err != nil || counts.Rows[0].Total.SharedLoad.Conflicts != 0 {
		t.Errorf("%v, %v, expected no conflicts", counts, err)
	}
}
