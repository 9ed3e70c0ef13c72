package device

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu/cuda"
)

// TestNumber checks that the name of a device tells its worker which GPU to
// open, in a call and in the environment. The worker here is a script that
// reports the messages that it received.
func TestNumber(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs linux: CUDA is nowhere else")
	}
	worker := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(worker, []byte("#!/bin/sh\necho told \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cuda.WorkerVariable, worker)
	for name, number := range map[string]string{"cuda": "0", "cuda:0": "0", "cuda:1": "1", "cuda:12": "12"} {
		told := func(how string, err error) {
			t.Helper()
			if want := "told -device=" + number; err == nil || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "open \""+name+"\"") {
				t.Errorf("%s %s: %v, expected the worker to be %s", how, name, err, want)
			}
		}
		_, err := Open(name)
		told("Open", err)
		t.Setenv(Variable, name)
		_, err = Open("")
		told(Variable, err)
	}
	if names := Names(); !slices.Contains(names, "cuda") || !slices.Contains(names, "emu:h200") {
		t.Errorf("names %v", names)
	}
}
