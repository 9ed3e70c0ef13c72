package reduce

import (
	"strings"
	"testing"
)

func TestCodeIncludesCalledFunctions(t *testing.T) {
	code, err := Operator.Code("reduce_v5_unrolled")
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

func TestNoInnerLoop(t *testing.T) {
	if _, err := Operator.InnerLoop("reduce_serial"); err == nil {
		t.Error("reduce_serial multiplies nothing, and has a loop that multiplies")
	}
}

// The kernel comes first, and then the declarations that it uses. Distant context of a change is folded.
func TestCodeBeginsWithKernel(t *testing.T) {
	code, err := Operator.Code("reduce_v5_unrolled")
	if err != nil {
		t.Fatal(err)
	}
	kernel, uses, helper := strings.Index(code.Text, "__global__ void reduce_v5_unrolled"), strings.Index(code.Text, "// What it uses:"), strings.Index(code.Text, "static __device__ void last_warp")
	if !(0 < kernel && kernel < uses && uses < helper) {
		t.Errorf("kernel at %d, helpers announced at %d and begin at %d:\n%s", kernel, uses, helper, code.Text)
	}
}
