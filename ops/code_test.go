package ops

import (
	"strings"
	"testing"
)

func TestCodeOfEveryVariant(t *testing.T) {
	for _, o := range Operators() {
		for _, v := range o.Variants {
			code, err := o.Code(v.Name)
			if v.Host != nil || v.Picks {
				if err == nil {
					t.Errorf("%s: code of a variant of the CPU: %q", v.Name, code.Text)
				}
				continue
			}
			if err != nil {
				t.Errorf("%v", err)
			}
			if !strings.Contains(code.Text, " "+v.Name+"(") || strings.Count(code.Text, "{") != strings.Count(code.Text, "}") {
				t.Errorf("%s: code is not a whole function:\n%s", v.Name, code.Text)
			}
		}
	}
}

func TestCodeHoldsWhatItCalls(t *testing.T) {
	code, err := Reduce.Code("reduce_v5_unrolled")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"void last_warp(", "void unrolled(", "void reduce_v5_unrolled("} {
		if !strings.Contains(code.Text, want) {
			t.Errorf("no %s in\n%s", want, code.Text)
		}
	}
	if strings.Contains(code.Text, "warp_sum") {
		t.Errorf("code that is not called:\n%s", code.Text)
	}
}

// Each function is shown once, whole, and only the branch that is compiled.
func TestCodeLeavesOutWhatWasShown(t *testing.T) {
	all, err := Gemm.Code("gemm_wide")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := Gemm.Code("gemm_wide", "gemm_naive_32", "gemm_float4")
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
	if _, err := Gemm.Code("gemm_wide", "gemm_narrow"); err == nil {
		t.Error("no error for an unknown variant that was shown")
	}
}

func TestDiffOfEntries(t *testing.T) {
	code, err := Gemm.Diff("gemm_tile_2d", "gemm_float4")
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

func TestCompiled(t *testing.T) {
	const source = "a\n#if __CUDA_ARCH__ >= 800\nb\n#if __CUDA_ARCH__ >= 900\nc\n#else\nd\n#endif\n#else // before\ne\n#endif\nf\n"
	for arch, want := range map[int]string{750: "a\ne\nf\n", 800: "a\nb\nd\nf\n", 900: "a\nb\nc\nf\n"} {
		if got := compiled(source, arch); got != want {
			t.Errorf("%d: %q, expected %q", arch, got, want)
		}
	}
}

func TestDiffMarksWhatChanged(t *testing.T) {
	a := []string{"same\n", "old\n", "kept\n", "last"}
	b := []string{"same\n", "new\n", "kept\n", "more\n", "last\n"}
	want := "  same\n- old\n+ new\n  kept\n+ more\n  last\n"
	if got := diff(a, b); got != want {
		t.Errorf("diff:\n%swant:\n%s", got, want)
	}
}
