package build

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/cuda"
)

// shared compiles a library of testdata, with further sources.
func shared(t *testing.T, to, compiler string, sources ...string) {
	t.Helper()
	out, err := exec.Command(compiler, append([]string{"-shared", "-fPIC", "-w", "-Wl,-z,lazy", "-o", to}, sources...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", to, err, out)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// collectives runs the real worker, on a driver and an NCCL without a GPU: that it opens the
// library, declares its functions right, and ends what does not end by itself.
func collectives(t *testing.T, worker string, c toolchain) {
	dir := t.TempDir()
	headers, compiler := c.headers, c.compiler
	text, err := os.ReadFile(filepath.Join(headers, "cuda.h"))
	if err != nil {
		t.Fatal(err)
	}
	rest := strings.ReplaceAll(string(stub(string(text))), "int cu", "__attribute__((weak)) int cu")
	if err := os.WriteFile(filepath.Join(dir, "rest.c"), []byte(rest), 0o644); err != nil {
		t.Fatal(err)
	}
	shared(t, filepath.Join(dir, "libcuda.so.1"), compiler, "-I"+headers, "testdata/driver.c", filepath.Join(dir, "rest.c"))
	shared(t, filepath.Join(dir, "libnccl.so.2"), compiler, "testdata/nccl.c")
	t.Setenv("LD_LIBRARY_PATH", dir)
	group := func(t *testing.T) []collective.Communicator {
		t.Helper()
		var devices []gpu.Device
		for n := range 3 {
			d, err := cuda.Open(cuda.Config{Worker: []string{worker}, Number: n})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			devices = append(devices, d)
		}
		all, err := collective.New(time.Hour, devices...)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	// sums lets all ranks add the vector (rank, 1) so many times.
	sums := func(all []collective.Communicator, buffers []gpu.Buffer, repeats int) []error {
		errs := make([]error, len(all))
		var wg sync.WaitGroup
		for i, c := range all {
			wg.Go(func() {
				var took time.Duration
				took, errs[i] = c.Time(gpu.Timing{Repeats: repeats}, collective.Call{Kind: collective.AllReduce, In: buffers[i], Out: buffers[i]})
				if errs[i] == nil && took <= 0 {
					errs[i] = errors.New("it took no time")
				}
			})
		}
		wg.Wait()
		return errs
	}
	vectors := func(t *testing.T, all []collective.Communicator) (buffers []gpu.Buffer) {
		t.Helper()
		for i, c := range all {
			b, err := c.Device().Alloc(gpu.Float32, 2)
			if err == nil {
				err = b.Upload([]float32{float32(i), 1})
			}
			if err != nil {
				t.Fatal(err)
			}
			buffers = append(buffers, b)
		}
		return buffers
	}
	t.Run("sum", func(t *testing.T) {
		t.Setenv("FAKE_NCCL", t.TempDir())
		t.Setenv(cuda.NCCLVariable, dir)
		all := group(t)
		if all[0].Transport() != "NCCL 2.27.5" {
			t.Fatal(all[0].Transport())
		}
		buffers := vectors(t, all)
		if err := errors.Join(sums(all, buffers, 2)...); err != nil {
			t.Fatal(err)
		}
		for i, b := range buffers {
			got := make([]float32, 2)
			if err := b.Download(got); err != nil || got[0] != 9 || got[1] != 9 {
				t.Errorf("rank %d has %v, %v, expected 9 and 9", i, got, err)
			}
		}
		row := make([]error, len(all)) // more than are in the stream at a time
		var wg sync.WaitGroup
		for i, c := range all {
			wg.Go(func() {
				sum := collective.Call{Kind: collective.AllReduce, In: buffers[i], Out: buffers[i]}
				row[i] = c.Run(slices.Repeat([]collective.Call{sum}, 50)...)
			})
		}
		wg.Wait()
		if err := errors.Join(row...); err != nil {
			t.Fatal(err)
		}
		for i, b := range buffers {
			got, want := make([]float32, 2), float32(math.Pow(3, 52))
			if err := b.Download(got); err != nil || math.Abs(float64(got[0]/want-1)) > 1e-5 {
				t.Errorf("rank %d has %v, %v after 50 more, expected %v", i, got, err, want)
			}
		}
		// Another goroutine's Sync waits for the collectives. It takes nothing from their time.
		pair, stop := vectors(t, all)[0], make(chan struct{})
		var synced sync.WaitGroup
		synced.Go(func() {
			for d := all[0].Device(); ; {
				select {
				case <-stop:
					return
				default:
					if err := errors.Join(d.Copy(pair, buffers[0]), d.Sync()); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
		for range 5 {
			if err := errors.Join(sums(all, buffers, 50)...); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		synced.Wait()
		ended := make(chan struct{})
		var interrupts sync.WaitGroup
		interrupts.Go(func() { // until one comes while the rank is in its call
			for {
				select {
				case <-ended:
					return
				case <-time.After(100 * time.Millisecond):
					all[1].Device().Interrupt()
				}
			}
		})
		errs := sums(all, buffers, 1<<30)
		close(ended)
		interrupts.Wait()
		for rank, err := range errs {
			if !errors.Is(err, gpu.ErrInterrupted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected an interrupt", rank, err)
			}
			if err := buffers[rank].Download(make([]float32, 2)); err != nil {
				t.Errorf("rank %d: the buffer: %v", rank, err)
			}
			all[rank].Close()
		}
	})
	t.Run("fails", func(t *testing.T) {
		t.Setenv("FAKE_NCCL", t.TempDir())
		t.Setenv("FAKE_NCCL_FAILS", "1")
		t.Setenv(cuda.NCCLVariable, dir)
		all := group(t)
		for rank, err := range sums(all, vectors(t, all), 1) {
			t.Log(err)
			if err == nil || !strings.Contains(err.Error(), "remote process exited or there was a network error: a cable is loose") || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected NCCL's error", rank, err)
			}
		}
	})
	// A rank whose last event cannot be made has destroyed the others, and the error is one line.
	t.Run("no event", func(t *testing.T) {
		events := filepath.Join(t.TempDir(), "events")
		t.Setenv("FAKE_NCCL", t.TempDir())
		t.Setenv("FAKE_EVENTS", events)
		t.Setenv("FAKE_EVENT_FAILS", "5")
		t.Setenv(cuda.NCCLVariable, dir)
		all := group(t)
		if got := all[0].Transport(); !strings.HasPrefix(got, "the host's memory: rank ") || !strings.Contains(got, "event: CUDA error 2") || strings.Contains(got, "\n") {
			t.Errorf("%q, expected one line with the driver's error", got)
		}
		signs, err := os.ReadFile(events)
		if made, destroyed := strings.Count(string(signs), "+"), strings.Count(string(signs), "-"); err != nil || made < 4 || made != destroyed {
			t.Errorf("%d events were made and %d destroyed, %v, expected all of at least 4", made, destroyed, err)
		}
	})
	// Work of the device from before a collective, or from after the last one, that takes longer
	// than an abort may: neither costs the worker its buffers.
	t.Run("busy", func(t *testing.T) {
		t.Setenv("FAKE_NCCL", t.TempDir())
		t.Setenv("FAKE_ZERO_MS", "3700")
		t.Setenv(cuda.NCCLVariable, dir)
		stopped, closed := group(t), group(t)
		before, after := vectors(t, stopped), vectors(t, closed)
		if err := errors.Join(sums(closed, after, 1)...); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := errors.Join(closed[0].Device().Zero(after[0]), closed[0].Close(), after[0].Download(make([]float32, 2))); err != nil {
				t.Errorf("the group that is closed: %v", err)
			}
		})
		if err := stopped[0].Device().Zero(before[0]); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() { stopped[1].Abort(errors.New("the test ends it")) })
		for rank, err := range sums(stopped, before, 1) {
			if !errors.Is(err, collective.ErrAborted) || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected that the group has ended", rank, err)
			}
			if err := before[rank].Download(make([]float32, 2)); err != nil {
				t.Errorf("rank %d: the buffer: %v", rank, err)
			}
		}
		wg.Wait()
		if took := time.Since(start); took < 3700*time.Millisecond {
			t.Errorf("%v, expected that the work takes longer than an abort may", took)
		}
	})
	// What a stop does with a call of NCCL, an abort and a device that do not end by themselves.
	for where, lost := range map[string]bool{"call": false, "abort": false, "device": true} {
		t.Run("hangs in "+where, func(t *testing.T) {
			signs := t.TempDir()
			t.Setenv("FAKE_NCCL", signs)
			t.Setenv("FAKE_NCCL_HANGS", where)
			t.Setenv(cuda.NCCLVariable, dir)
			all := group(t)
			buffers := vectors(t, all)
			var at time.Time
			go func() { // a call hangs, and a device is busy, once every rank is there
				for rank := range all {
					for !exists(filepath.Join(signs, strconv.Itoa(rank))) {
						time.Sleep(time.Millisecond)
					}
				}
				at = time.Now()
				all[1].Abort(errors.New("the test ends it"))
			}()
			for rank, err := range sums(all, buffers, 1<<30) {
				t.Logf("rank %d: %v", rank, err)
				if !errors.Is(err, collective.ErrAborted) || strings.Contains(err.Error(), "\n") {
					t.Errorf("rank %d: %v, expected that the group has ended", rank, err)
				}
				got := make([]float32, 2)
				switch err := buffers[rank].Download(got); {
				case lost && (!errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "NCCL did not stop within 3s: ncclCommAbort has not returned, and the device is busy with up to 32 collectives")):
					t.Errorf("rank %d: %v, expected the reason of the loss", rank, err)
				case !lost && err != nil:
					t.Errorf("rank %d: the buffer: %v", rank, err)
				}
			}
			t.Logf("after %v", time.Since(at).Round(time.Millisecond))
		})
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"):      "cannot open shared object file",
		filepath.Join(dir, "libcuda.so.1"): "has no ncclGetVersion, expected NCCL 2.14 or newer",
	} {
		t.Setenv(cuda.NCCLVariable, path)
		if got := group(t)[0].Transport(); !strings.Contains(got, want) || !strings.Contains(got, "pip install nvidia-nccl") || strings.Contains(got, "\n") {
			t.Errorf("%s: %s, expected it to have %q and the remedy", path, got, want)
		}
	}
}
