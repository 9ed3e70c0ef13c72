package reduce

import (
	"errors"
	"testing"

	"warpbook/gpu"
)

// The additions of each tree sum up a block, each thread adds once a step, and the picture
// shows as many working warps as the rung has.
func TestTrees(t *testing.T) {
	for rung, want := range map[string][]int{ // working warps of each step
		"reduce_v0_interleaved":   {4, 4, 4, 2, 1},
		"reduce_v1_strided_index": {2, 1, 1, 1, 1},
		"reduce_v2_sequential":    {2, 1, 1, 1, 1},
		"reduce_v3_first_add":     {4, 2, 1, 1, 1, 1},
		"reduce_v4_last_warp":     {4, 2, 1, 1, 1, 1},
		"reduce_warp_shuffle":     {4, 4, 4, 1, 1},
	} {
		tree, err := TreeOf(rung)
		if err != nil {
			t.Fatal(err)
		}
		loaded := treeThreads // elements
		if tree.steps[0].ends == "%d, load" {
			loaded *= 2
		}
		s, sum, added := make([]int, loaded), 0, 0
		for i := range s {
			s[i] = i*i + 1
			sum += s[i]
		}
		for _, step := range tree.steps {
			did := map[int]bool{}
			added += len(step.adds)
			for _, a := range step.adds {
				if did[a.thread] {
					t.Errorf("%s: thread %d adds twice in a step", rung, a.thread)
				}
				did[a.thread] = true
				s[a.to] += s[a.from]
			}
		}
		if s[0] != sum || added < loaded-1 {
			t.Errorf("%s: %d additions give %d, expected at least %d and %d", rung, added, s[0], loaded-1, sum)
		}
		_, rows, text, level := tree.Cells()
		for i := range rows {
			warps, adds := 0, 0
			for lane, l := range level[i] {
				if l > 0 && lane%treeWarp == 0 {
					warps++
				}
				if (l == 1) != (text[i][lane] != "") {
					t.Errorf("%s: step %s, thread %d: level %d and text %q", rung, rows[i], lane, l, text[i][lane])
				}
				if l == 1 {
					adds++
				}
			}
			if warps != want[i] || adds != len(tree.steps[i].adds) {
				t.Errorf("%s: step %s: %d warps work and %d threads add, expected %d and %d", rung, rows[i], warps, adds, want[i], len(tree.steps[i].adds))
			}
		}
	}
	if _, err := TreeOf("reduce_v5_unrolled"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("%v, expected gpu.ErrNotFound", err)
	}
}
