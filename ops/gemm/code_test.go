package gemm

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// Each function is shown once, whole, and only the branch that is compiled.
func TestCodeOmitsShownFunctions(t *testing.T) {
	all, err := Operator.Code("gemm_wide")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := Operator.Code("gemm_wide", "gemm_naive_32", "gemm_float4")
	if err != nil {
		t.Fatal(err)
	}
	for _, once := range []string{"Place corner(", "float relu(", "void store(const Problem", "void store4(", "void commit()", "using Wide =",
		"struct Shape", "struct Problem", "extern __shared__"} {
		if n := strings.Count(all.Text, once); n != 1 {
			t.Errorf("%s is there %d times, expected once", once, n)
		}
	}
	for _, shown := range []string{"Place corner(", "float relu(", "void store(const Problem", "void store4(", "struct Problem", "#define MATRICES"} {
		if strings.Contains(rest.Text, shown) {
			t.Errorf("%s has been shown, and is there again", shown)
		}
	}
	if strings.Contains(all.Text, "#if") || strings.Contains(all.Text, "#else") || strings.Contains(all.Text, "void commit() {}") {
		t.Errorf("a branch that is not compiled:\n%s", all.Text)
	}
	if strings.Contains(all.Text, "float load(") {
		t.Errorf("a method of its own is taken for the function of that name:\n%s", all.Text)
	}
	if _, err := Operator.Code("gemm_wide", "gemm_narrow"); err == nil {
		t.Error("no error for an unknown variant that was shown")
	}
}

func TestDiffOfEntries(t *testing.T) {
	code, err := Operator.Diff("gemm_tile_2d", "gemm_float4")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n+ static __device__ void read8(", "\n- extern \"C\" __global__ void gemm_tile_2d(MATRICES) {\n", "\n+ extern \"C\" __global__ void gemm_float4(MATRICES) {\n"} {
		if !strings.Contains(code.Text, want) {
			t.Errorf("no %q in\n%s", want, code.Text)
		}
	}
	if strings.Contains(code.Text, "Place corner(") || strings.Contains(code.Text, "- static __device__") {
		t.Errorf("what both have, or what is only not used any more:\n%s", code.Text)
	}
}

// An excerpt shows the entries and the named functions; the whole code is there, once.
func TestExcerpt(t *testing.T) {
	all, err := Operator.Code("gemm_specialized")
	if err != nil {
		t.Fatal(err)
	}
	part, err := Operator.Excerpt("gemm_specialized", "bring", "specialized")
	if err != nil {
		t.Fatal(err)
	}
	shown := part.Text[:len(part.Text)-part.Folded]
	for _, want := range []string{"gemm_specialized(MAPS", "void bring(", "void specialized(", "setmaxnreg"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the excerpt does not show %q", want)
		}
	}
	if lines := strings.Count(shown, "\n"); lines > 90 || strings.Contains(shown, "struct Work {") {
		t.Errorf("the excerpt has %d lines, expected at most 90, and no struct Work", lines)
	}
	if got, want := strings.Count(part.Text, ";"), strings.Count(all.Text, ";"); got != want {
		t.Errorf("%d semicolons in the excerpt and what unfolds, expected %d", got, want)
	}
	if _, err := Operator.Excerpt("gemm_specialized", "no_such_function"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("%v, expected gpu.ErrNotFound", err)
	}
}
