package runtime

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// Every call that the library defines is declared for programs, and the other way round.
func TestCalls(t *testing.T) {
	header, err := os.ReadFile("../../compile/include/device/warpbook/api.h")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, m := range regexp.MustCompile(`(?m)^(?:cudaError_t|const char \*) ?(cuda\w+)\(`).FindAllStringSubmatch(string(header), -1) {
		declared = append(declared, m[1])
	}
	slices.Sort(declared)
	calls := Calls()
	for _, name := range slices.Concat(declared, calls) {
		if name == "cudaLaunchKernel" { // declared beside the calls behind <<<>>>
			continue
		}
		if a, b := slices.Contains(declared, name), slices.Contains(calls, name); a != b {
			t.Errorf("%s: declared %v, defined %v", name, a, b)
		}
	}
	if len(calls) < 100 || len(slices.Compact(slices.Clone(calls))) != len(calls) {
		t.Errorf("%d calls, expected at least 100, each once", len(calls))
	}
}
