package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

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

// TestStartErrors checks workers that do not start: each error has a remedy.
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
// of its own: both run at once, and a fault on one, or a stop, leaves the other
// alone.
func TestTwoGPUs(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		first, second := openTwo(t, func(n int) (*Device, error) { return openNumber(t, "emulator", n) })
		if a, b := first.device.Info().Name, second.device.Info().Name; b != a+" 1" {
			t.Errorf("devices %q and %q, expected the worker to be told which one", a, b)
		}
		apart(first, second)
	})
	t.Run("GPU", func(t *testing.T) {
		if needGPU(t); Count() < 2 {
			t.Skipf("needs two GPUs, there is %d", Count())
		}
		first, second := openTwo(t, func(n int) (*Device, error) { return Open(Config{Number: n}) })
		if a, b := first.device.Info().UUID, second.device.Info().UUID; a == b {
			t.Errorf("both devices are %s", a)
		}
		apart(first, second)
	})
}

func openTwo(t *testing.T, open func(number int) (*Device, error)) (first, second *bench) {
	t.Helper()
	var two []*bench
	for n := range 2 {
		d, err := open(n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		b := &bench{T: t, device: d}
		b.module, err = d.Load("faults.ptx", faultsPTX)
		b.ok(err)
		two = append(two, b)
	}
	return two[0], two[1]
}

// apart checks that what happens on the second device is nothing to the first.
func apart(first, second *bench) {
	t := first.T
	x := first.zeros(1)
	first.ok(x.Upload([]uint32{5}))
	says(t, "a buffer of the other GPU", second.device.Launch(second.launch("add", x)), "a buffer of another device")
	var count uint32
	done, counted := make(chan bool), make(chan error, 1)
	add := first.launch("add", x)
	go func() {
		for {
			select {
			case <-done:
				counted <- nil
				return
			default:
			}
			if err := first.run(add); err != nil {
				counted <- err
				return
			}
			count++
		}
	}()
	if err := second.run(second.launch("traps")); !errors.Is(err, gpu.ErrTrap) {
		t.Errorf("%v, expected a trap", err)
	}
	second.works("a fault of the second GPU")
	flag := second.zeros(1)
	endless := second.launch("endless", flag)
	stopped := make(chan error, 1)
	go func() { stopped <- second.run(endless) }()
	var err error
	for err == nil { // a stop that comes before the launch ends nothing
		select {
		case err = <-stopped:
		case <-time.After(200 * time.Millisecond):
			second.device.Interrupt()
		}
	}
	if !errors.Is(err, gpu.ErrInterrupted) {
		t.Errorf("%v, expected %q", err, gpu.ErrInterrupted)
	}
	second.works("a stop of the second GPU")
	close(done)
	first.ok(<-counted)
	got := make([]uint32, 1)
	first.ok(x.Download(got))
	if count == 0 || got[0] != 5+count {
		t.Errorf("%d launches on the first GPU meanwhile made 5 to %d", count, got[0])
	}
	t.Logf("%d launches on the first GPU meanwhile", count)
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
