package reduce

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// The table of steps has each rung's change, time, share and gains, as worked by hand from
// two times and a limit; a rung or a size that the run has not is an error.
func TestSteps(t *testing.T) {
	size := ladder.Size{1000}
	run := &results.Measured{Name: "a run", Times: []results.MeasuredTimes{{Size: size, TFLOPS: map[string]float64{"reduce_v0_interleaved": 1, "reduce_v1_strided_index": 2, "reduce_v2_sequential": 3, "limit_read": 4}}}}
	s, err := results.NewSteps(Operator, run, size, "limit_read", "reduce_v0_interleaved", "reduce_v1_strided_index", "reduce_v2_sequential")
	if err != nil {
		t.Fatal(err)
	}
	_, rows := s.Table()
	for i, want := range []string{"25 % - 1.00x", "50 % 2.00x 2.00x", "75 % 1.50x 3.00x"} {
		if got := strings.Join(rows[i][3:], " "); got != want || rows[i][1] == "" {
			t.Errorf("row %d: %s, expected %s and a change", i, got, want)
		}
	}
	for _, names := range [][]string{{"limit_read", "no_such_rung"}, {"no_such_limit", "reduce_v0_interleaved"}} {
		if _, err := results.NewSteps(Operator, run, size, names[0], names[1]); !errors.Is(err, gpu.ErrNotFound) {
			t.Errorf("%v: %v, expected gpu.ErrNotFound", names, err)
		}
	}
	if _, err := results.NewSteps(Operator, run, ladder.Size{7}, "limit_read"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("another size: %v, expected gpu.ErrNotFound", err)
	}
}

// A comparison of counters has the times of the committed run above them, a rung without one
// a dash, and the bytes of each level are those of the counters.
func TestTimesAboveCounters(t *testing.T) {
	size := ladder.Size{1000}
	run := &results.Measured{Name: "a run", Device: "NVIDIA H200, 1 GHz", Times: []results.MeasuredTimes{{Size: size, US: map[string]float64{"reduce_v0_interleaved": 8, "reduce_v1_strided_index": 2}}}}
	steps, err := results.NewSteps(Operator, run, size, "reduce_v1_strided_index", "reduce_v0_interleaved")
	if err != nil {
		t.Fatal(err)
	}
	counts := &results.Counts{Rows: []results.Count{{Name: "reduce_v0_interleaved"}, {Name: "reduce_v1_strided_index"}, {Name: "reduce_v2_sequential"}}}
	counts.Operator, counts.Size = Operator, size
	counts.Rows[0].Total.GlobalLoad = gpu.GlobalAccess{Bytes: 4e6, Sectors: 1e6}
	counts.Rows[1].Total.SharedLoad.Bytes = 2e6
	_, rows := (&results.SideBySide{Counts: counts, Steps: steps}).Table()
	if got := strings.Join(rows[1], ", "); got != "time on an H200 at 1000 (us), 8, 2 (0.25x), -" {
		t.Errorf("row of times: %s", got)
	}
	if _, rows := (&results.SideBySide{Counts: counts}).Table(); strings.Contains(strings.Join(rows[1], " "), "time") {
		t.Errorf("a row of times without a run: %v", rows[1])
	}
	axis, labels, names, values := counts.Bytes().Bars()
	if got := fmt.Sprintln(axis, labels[0], names, values[0][:2], values[1][0], values[2][0], values[3][2]); got != "MB reduce_v0_interleaved [shared global sectors arrays] [0 2] 4 32 0.004004\n" {
		t.Errorf("bars: %s", got)
	}
}
