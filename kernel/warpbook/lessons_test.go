//go:build !windows

package main

import (
	"strings"
	"testing"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/nbformat"
)

// lessonsForReal runs the reduce notebook's lessons on edited figures: each lesson
// fails with the statement that the edit makes false, and none fails on the true
// figures.
func lessonsForReal(t *testing.T, cells string) {
	nb, err := nbformat.Read("../../notebooks/01-reduce.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	at := map[string]int{} // in sources, by the cell's id
	for _, c := range nb.Cells {
		switch {
		case c.Type != nbformat.Code:
		case c.ID == "parameters":
			sources = append(sources, "parameters|n := 100_003\nseed := 1")
		case c.ID == "setup", strings.HasSuffix(c.ID, "-lesson") && c.ID != "latency-lesson" && c.ID != "lanes-lesson" && c.ID != "padding-lesson":
			at[c.ID] = len(sources)
			sources = append(sources, c.Source)
		}
	}
	for _, test := range []struct{ cell, edit, want string }{
		{"", "", ""},
		{"v1-lesson", `counted("reduce_v1_strided_index").SharedLoad.Wavefronts++`, "exactly as many as before"},
		{"v2-lesson", `counted("reduce_v2_sequential").SharedStore.Conflicts = 1`, "no conflict is left"},
		{"v3-lesson", `h200.Times[0].US["reduce_v4_last_warp"] = 20`, "the largest step from v0 to v6"},
		{"v5-lesson", `counted("reduce_v5_unrolled").GlobalLoad.Sectors--`, "the same to the last digit"},
		{"memory-lesson", `h200.Times[0].WithinUS["reduce_global"] = [2]float64{134, 136}`, "shared memory is a little faster"},
		{"warp-level-lesson", `counted("reduce_shfl_xor").Shuffles++`, "The three shuffles count the same"},
		{"flushed-lesson", `h200.Times[0].US["reduce_l2_resident"] = 28`, "the gain is what L2 still held"},
	} {
		t.Run(test.cell, func(t *testing.T) {
			all, edited := sources, at[test.cell]
			if test.cell != "" {
				all = append(append(append([]string{}, sources[:edited]...), test.edit), sources[edited])
			}
			p := newPlace(t)
			p.notebook("x.ipynb", all...)
			c := p.command("run", "x.ipynb")
			c.Env = append(c.Env, cellbuild.Env+"="+cells)
			o := p.finish(c)
			if test.want == "" {
				if o.status != 0 {
					t.Fatalf("the true figures: %+v", o)
				}
				return
			}
			if o.status != statusFailed || !strings.Contains(o.stderr, "lesson: false by the figures: ") || !strings.Contains(o.stderr, test.want) {
				t.Errorf("status %d, %q, expected the statement with %q", o.status, o.stderr, test.want)
			}
		})
	}
}
