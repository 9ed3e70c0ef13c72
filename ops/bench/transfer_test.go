package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/ops/peers"
	"warpbook/ops/results"
)

// TestTransfers copies host memory to the GPU and back in sizes of 1 MiB to
// 1 GiB, before and after torch has copied as much from pinned memory of its own
// process, and prints the rates. Ours are to be 95 % at least from 64 MiB on:
// below, what counts is how long the worker's answer takes. What fails is
// 80 %, because times are no ground for a failure.
func TestTransfers(t *testing.T) {
	d := agree(t).device
	defer d.Close()
	needTorch(t)
	torch := startPinned(t, d)
	for size := 1 << 20; size <= 1<<30; size *= 4 {
		before := newTransfer(t, d, size)
		theirs := torch.times(size)
		after := before.again()
		for i, way := range []string{"up", "down"} {
			rate := func(d time.Duration) float64 { return float64(size) / float64(d) }
			part := float64(theirs[i]) / float64(before.took[i]+after[i]) * 2
			t.Logf("%-4s %4d MiB: %5.1f and %5.1f GB/s, pinned memory of one process %5.1f: %5.1f %%",
				way, size>>20, rate(before.took[i]), rate(after[i]), rate(theirs[i]), 100*part)
			if size >= 64<<20 && !(part >= 0.8) {
				t.Errorf("%s: %d bytes reach %.1f %% of pinned memory of one process, expected 80 %% at least", way, size, 100*part)
			}
		}
		before.free()
	}
}

// transfer is memory of so many bytes on the device, and twice on the host.
type transfer struct {
	*testing.T
	device      gpu.Device
	x           gpu.Buffer
	there, back gpu.Host
	took        [2]time.Duration // up and down
}

// newTransfer makes random memory and times copies of it.
func newTransfer(t *testing.T, d gpu.Device, size int) *transfer {
	t.Helper()
	x, err := d.Alloc(gpu.Uint8, size)
	if err != nil {
		t.Fatal(err)
	}
	tr := &transfer{T: t, device: d, x: x}
	random := rand.NewChaCha8([32]byte{1})
	for _, h := range []*gpu.Host{&tr.there, &tr.back} {
		if *h, err = d.AllocHost(gpu.Uint8, size); err != nil {
			t.Fatal(err)
		}
		random.Read((*h).Slice().([]byte))
	}
	tr.took = tr.again()
	return tr
}

// again are the medians of copies up and down, each waited for. What comes back
// must be what went.
func (t *transfer) again() [2]time.Duration {
	took := [2]time.Duration{t.median(t.x, t.there), t.median(t.back, t.x)}
	if !slices.Equal(t.there.Slice().([]byte), t.back.Slice().([]byte)) {
		t.Errorf("%d bytes came back changed", t.x.Len())
	}
	return took
}

func (t *transfer) median(dst, src gpu.Memory) time.Duration {
	var times []time.Duration
	for range max(10, min(100, 4<<30/t.x.Len())) + 3 {
		start := time.Now()
		if err := t.device.Copy(dst, src); err != nil {
			t.Fatal(err)
		}
		if err := t.device.Sync(); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	return results.Summarize(times[3:]).Median
}

func (t *transfer) free() {
	for _, m := range []interface{ Free() error }{t.x, t.there, t.back} {
		if err := m.Free(); err != nil {
			t.Error(err)
		}
	}
}

// pinned is a process that copies pinned memory on request.
type pinned struct {
	*testing.T
	sizes   io.Writer
	figures *json.Decoder
}

func startPinned(t *testing.T, d gpu.Device) *pinned {
	t.Helper()
	c := python(d, "../peers/pinned.py")
	var log bytes.Buffer
	c.Stderr = &log
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("it needs python3 with torch: ", err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
		t.Log(log.String())
	})
	return &pinned{t, in, json.NewDecoder(out)}
}

// times are those of copies of so many bytes, up and down.
func (p *pinned) times(size int) (took [2]time.Duration) {
	fmt.Fprintln(p.sizes, size)
	for i := range took {
		var f peers.Figure
		if err := p.figures.Decode(&f); err != nil {
			p.Fatal("pinned.py ended: ", err)
		}
		took[i] = time.Duration(f.MedianNS)
	}
	return took
}
