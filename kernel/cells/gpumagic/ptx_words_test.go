package gpumagic

import (
	"slices"
	"testing"
)

// TestPTXWords: completion in %%ptx knows names of the cell, special registers and opcodes,
// after an opcode its modifiers without those that are there, and after a dot directives.
func TestPTXWords(t *testing.T) {
	const body = ".version 7.8\n.visible .entry twice(.param .u64 p0)\n{\n.reg .b32 %sum;\n// note\n$L1:\nmov.u32 %sum, %tid.x;\nret;\n}"
	for _, c := range []struct {
		before string
		has    []string
		not    []string
	}{
		{"", []string{"twice", "p0", "sum", "$L1", "tid", "laneid", "ld", "mad", "tcgen05"}, []string{"global", "u64", "note", "visible", "x"}},
		{"ld.", []string{"global", "shared", "v4", "f32", "volatile"}, []string{"ld", "sum", "entry"}},
		{"ld.global.", []string{"v4", "f32", "nc"}, []string{"global"}},
		{"tid.", []string{"x", "y", "z"}, []string{"global"}},
		{".", []string{"entry", "reg", "maxntid", "b32", "pred"}, []string{"ld"}},
		{"nothing.", nil, []string{"x", "entry"}},
	} {
		var names []string
		for _, w := range ptxWords(body, c.before) {
			names = append(names, w.Name)
		}
		for _, name := range c.has {
			if !slices.Contains(names, name) {
				t.Errorf("after %q: no %s in %v", c.before, name, names)
			}
		}
		for _, name := range c.not {
			if slices.Contains(names, name) {
				t.Errorf("after %q: %s", c.before, name)
			}
		}
	}
}
