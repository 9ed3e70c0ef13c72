package bench

import (
	"slices"
	"testing"

	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// A kernel that only reads is no library: the last row of a measured table compares ours
// with the fastest peer that adds.
func TestLimitIsNoLibrary(t *testing.T) {
	m, err := ParseMeasured([]*ladder.Operator{sample.Operator}, "sample_test", []byte(`{"title": "t", "device": "d", "times": [
		{"size": [8], "us": {"sum_serial": 10, "a_library": 20, "limit_read": 5},
		 "range_us": {"sum_serial": [9, 11], "a_library": [19, 21], "limit_read": [4, 6]},
		 "turns": 5, "theirs": ["a_library", "limit_read"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, rows := m.Table()
	if last := rows[len(rows)-1]; !slices.Equal(last, []string{"ours / theirs", "2.00 " + Faster}) {
		t.Errorf("last row %q, expected 2.00 %s of a_library", last, Faster)
	}
}
