package cuda

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/gputest"
)

// TestFake runs the suite of all devices on a worker that has the emulator in
// place of a GPU.
func TestFake(t *testing.T) {
	gputest.Run(t, func() (gpu.Device, error) { return openFake(t, "emulator") })
}

// TestGPU runs it on a GPU.
func TestGPU(t *testing.T) {
	needGPU(t)
	gputest.Run(t, func() (gpu.Device, error) { return openGPU(t) })
}

// openGPU opens the GPU, or skips the test.
func openGPU(t testing.TB) (*Device, error) {
	t.Helper()
	needGPU(t)
	return Open(Config{})
}

func needGPU(t testing.TB) {
	t.Helper()
	if !gpuWanted() {
		t.Skip("needs a GPU and its worker: set WARPBOOK_DEVICE=cuda to run it")
	}
}

func gpuWanted() bool {
	kind, _, _ := strings.Cut(os.Getenv("WARPBOOK_DEVICE"), ":")
	return kind == "cuda"
}

// TestDropWithoutClose checks that a device that is dropped without Close leaves no
// worker behind, as when a cell that opens one runs again.
func TestDropWithoutClose(t *testing.T) {
	d, err := openFake(t, "emulator")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Alloc(gpu.Float32, 10); err != nil {
		t.Fatal(err)
	}
	done := d.link.done
	d = nil
	for range 1000 {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Error("the worker of a device that nothing refers to still runs")
}
