package cuda

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// says checks that an error is one line with certain words.
func says(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	t.Logf("%s: %v", what, err)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, expected an error of one line", what, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, expected it to say %q", what, err, word)
		}
	}
}

// TestStartErrors checks workers that do not start: each says what to do.
func TestStartErrors(t *testing.T) {
	for how, words := range map[string][]string{
		"no driver": {"CUDA does not start", "nvidia-smi", "libcuda.so.1", "device emu"},
		"no GPU":    {"CUDA does not start", "nvidia-smi", "NoDevice", "device emu"},
		"old":       {"protocol", "go run ./install"},
		"exclusive": {"another process holds the GPU in exclusive mode", "end it, or choose another device"},
		"full":      {"other processes use the GPU's memory", "nvidia-smi"},
	} {
		_, err := openFake(t, how)
		says(t, how, err, words...)
	}
	_, err := openNumber(t, "one", 1)
	says(t, "second of one GPU", err, "there is no GPU 1, expected cuda:0 to cuda:0")
	if !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("%v, expected %q", err, gpu.ErrNotFound)
	}
	_, err = Open(Config{Worker: []string{"/does/not/exist"}})
	says(t, "a worker that is not there", err, "start worker")
	t.Setenv(WorkerVariable, "/does/not/exist")
	if _, err := Open(Config{}); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("no worker: %v", err)
	}
}

// TestTwoGPUs checks that each number is a device of its own, with a worker
// of its own: a fault on one leaves the other alone.
func TestTwoGPUs(t *testing.T) {
	first, err := openNumber(t, "emulator", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := openNumber(t, "emulator", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if a, b := first.Info().Name, second.Info().Name; b != a+" 1" {
		t.Errorf("devices %q and %q, expected the worker to be told which one", a, b)
	}
	b := &bench{T: t, device: second}
	b.module, err = second.Load("faults.ptx", faultsPTX)
	b.ok(err)
	x, err := first.Alloc(gpu.Uint32, 1)
	b.ok(err)
	b.ok(x.Upload([]uint32{5}))
	says(t, "a buffer of the other GPU", second.Launch(b.launch("add", x)), "a buffer of another device")
	if err := b.run(b.launch("traps")); !errors.Is(err, gpu.ErrTrap) {
		t.Errorf("%v, expected a trap", err)
	}
	got := make([]uint32, 1)
	b.ok(x.Download(got))
	if got[0] != 5 {
		t.Errorf("the first GPU's buffer is %v after a fault of the second", got)
	}
	b.works("a fault of the second GPU")
}

// TestBadPTX checks the remedies for PTX that the driver or the GPU is too old
// for.
func TestBadPTX(t *testing.T) {
	d, err := openFake(t, "old driver")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = d.Load("new.ptx", strings.Replace(faultsPTX, ".version 6.4", ".version 8.7", 1))
	says(t, "a later version", err, "new.ptx", ".version 8.7, expected at most 8.0", "install driver 570 or later, or compile with CUDA before 12.8")
	_, err = d.Load("future.ptx", strings.Replace(faultsPTX, ".version 6.4", ".version 42.0", 1))
	says(t, "a version that is not known", err, ".version 42.0", "compile with an older CUDA")
	for target, words := range map[string]string{"sm_100": "compile for sm_90", "sm_89a": "compile for sm_90", "compute": "expected sm_ and a number"} {
		_, err = d.Load("target.ptx", strings.Replace(faultsPTX, "sm_75", target, 1))
		says(t, target, err, words)
	}
}
