package reduce

import (
	"errors"
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
