package results

import (
	"slices"
	"testing"

	"warpbook/ops/ladder"
)

// A matrix has a column a size; a wrong result and an absent rung show, and its
// record has the rows of all sizes.
func TestCheckMatrix(t *testing.T) {
	small := &Checks{Subject: subjectOf(ladder.Work{}, 8), Rows: []Check{
		{Name: "a", Verdict: ladder.Pass, Error: 1, Bound: 4, Ran: true}, {Name: "b", Verdict: ladder.Pass}}}
	large := &Checks{Subject: subjectOf(ladder.Work{}, 16), Rows: []Check{{Name: "a", Verdict: ladder.Fail}}}
	var m CheckMatrix
	m.Add(small)
	if !m.Passed() {
		t.Error("right results did not pass")
	}
	columns, rows := m.Add(large).Table()
	if want := [][]string{{"a", "PASS 0.25", "FAIL"}, {"b", "PASS", "-"}}; m.Passed() || !slices.Equal(columns, []string{"variant", "8", "16"}) ||
		!slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%q %q, passed %v", columns, rows, m.Passed())
	}
	if r := m.Record().(map[string]any); r["kind"] != "checks" || len(r["rows"].([]map[string]any)) != 3 {
		t.Errorf("%v, expected a record of three checks", r)
	}
}
