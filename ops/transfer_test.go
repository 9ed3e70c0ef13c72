package ops

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/peers"
)

// TestTransfers copies host memory to the GPU and back in sizes of 1 MiB to
// 1 GiB and prints the rates beside those of pinned memory of one process, with
// torch, before and after. They are to be 95 % at least from 64 MiB on; what
// fails is 80 %, because times are no ground for a failure.
func TestTransfers(t *testing.T) {
	d := device.MustOpen("")
	defer d.Close()
	if d.Info().Emulated {
		t.Skip("it needs a GPU")
	}
	if _, err := python(d, "-c", "import torch; torch.zeros(1, device='cuda')"); err != nil {
		t.Skip("it needs python3 with torch: ", err)
	}
	var sizes []int
	for size := 1 << 20; size <= 1<<30; size *= 4 {
		sizes = append(sizes, size)
	}
	before := pinned(t, d, sizes)
	ours := map[string][]time.Duration{}
	for _, size := range sizes {
		up, down := transfers(t, d, size)
		ours["up"], ours["down"] = append(ours["up"], up), append(ours["down"], down)
	}
	after := pinned(t, d, sizes)
	for _, way := range []string{"up", "down"} {
		for i, size := range sizes {
			theirs := (before[way][i] + after[way][i]) / 2
			rate := func(d time.Duration) float64 { return float64(size) / float64(d) }
			part := rate(ours[way][i]) / rate(theirs)
			t.Logf("%-4s %4d MiB: %5.1f GB/s, pinned memory of one process %5.1f and %5.1f: %5.1f %%",
				way, size>>20, rate(ours[way][i]), rate(before[way][i]), rate(after[way][i]), 100*part)
			if size >= 64<<20 && part < 0.8 {
				t.Errorf("%s: %d bytes at %.1f GB/s, expected 80 %% of %.1f at least", way, size, rate(ours[way][i]), rate(theirs))
			}
		}
	}
}

// transfers are the medians of copies of so many bytes, each waited for. What
// comes back must be what went.
func transfers(t *testing.T, d gpu.Device, size int) (up, down time.Duration) {
	t.Helper()
	ok := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	x, err := d.Alloc(gpu.Uint8, size)
	ok(err)
	there, err := d.AllocHost(gpu.Uint8, size)
	ok(err)
	back, err := d.AllocHost(gpu.Uint8, size)
	ok(err)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(there.Slice().([]byte))
	random.Read(back.Slice().([]byte)) // so that the memory is there before it is timed
	median := func(dst, src gpu.Memory) time.Duration {
		var times []time.Duration
		for range max(10, min(100, 4<<30/size)) + 3 {
			start := time.Now()
			ok(d.Copy(dst, src))
			ok(d.Sync())
			times = append(times, time.Since(start))
		}
		times = times[3:]
		slices.Sort(times)
		return times[len(times)/2]
	}
	up, down = median(x, there), median(back, x)
	if !slices.Equal(there.Slice().([]byte), back.Slice().([]byte)) {
		t.Errorf("%d bytes came back changed", size)
	}
	ok(x.Free())
	ok(there.Free())
	ok(back.Free())
	return up, down
}

// pinned are the times of the same copies in one process, up and down.
func pinned(t *testing.T, d gpu.Device, sizes []int) map[string][]time.Duration {
	t.Helper()
	args := []string{"peers/pinned.py"}
	for _, size := range sizes {
		args = append(args, strconv.Itoa(size))
	}
	out, err := python(d, args...)
	if err != nil {
		t.Fatalf("pinned.py: %v", err)
	}
	times := map[string][]time.Duration{}
	for line := range strings.Lines(string(out)) {
		var f peers.Figure
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		times[f.Name] = append(times[f.Name], time.Duration(f.MedianNS))
	}
	return times
}
