package results

import (
	"slices"
	"testing"

	"warpbook/kernel/leaf/verdict"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// A ratio with a verdict of its own is not written as 1.
func TestSmallLeadIsNotOne(t *testing.T) {
	times := MeasuredTimes{US: map[string]float64{"ours": 710.6, "theirs": 713.5}, Turns: verdict.LeastRepetitions,
		RangeUS: map[string][2]float64{"ours": {710.4, 712.3}, "theirs": {713.2, 713.7}}}
	times.work = ladder.Work{Bytes: 8 << 28}
	if got, want := times.versus("ours", "theirs"), "1.004 "+Faster; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := times.versus("theirs", "ours"), "0.996 "+Slower; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Five repetitions decide a verdict, four do not.
func TestLeastRepetitions(t *testing.T) {
	for turns, want := range map[int]string{4: "2.00", 5: "2.00 " + Faster, 6: "2.00 " + Faster} {
		times := MeasuredTimes{US: map[string]float64{"ours": 10, "theirs": 20}, Turns: turns,
			RangeUS: map[string][2]float64{"ours": {9, 11}, "theirs": {19, 21}}}
		times.work = ladder.Work{Bytes: 8}
		if got := times.versus("ours", "theirs"); got != want {
			t.Errorf("%d repetitions: %q, expected %q", turns, got, want)
		}
	}
}

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
