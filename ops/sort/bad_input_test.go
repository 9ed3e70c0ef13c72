package sort

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// short is a device that has memory for so many more buffers, and counts launches.
type short struct {
	gpu.Device
	buffers, launches int
}

func (d *short) Alloc(t gpu.Type, n int) (gpu.Buffer, error) {
	if d.buffers == 0 {
		return nil, fmt.Errorf("gpu: alloc %d elements: %w", n, gpu.ErrMemory)
	}
	d.buffers--
	return d.Device.Alloc(t, n)
}

func (d *short) Launch(l gpu.Launch) error {
	d.launches++
	return d.Device.Launch(l)
}

// TestBadInput gives each rung values of another length than the keys, outputs that are an
// input or overlap one, and more keys than the index has room for. Each is refused in one
// line before a launch, and no output is written.
func TestBadInput(t *testing.T) {
	const n = 20_000
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer h.Close()
		alloc := func(n int) gpu.Buffer {
			b, err := d.Alloc(gpu.Uint32, n)
			if err == nil {
				err = b.Upload(falling(n))
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Free() })
			return b
		}
		keys, values, sorted, moved := alloc(n), alloc(n), alloc(n), alloc(n)
		fewer, both := alloc(n-1), alloc(2*n-1)
		view := func(from int) gpu.Buffer {
			v, err := both.View(from, n)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		first, second := view(0), view(n-1) // share an element
		for _, c := range []struct {
			what                        string
			n                           int
			keys, values, sorted, moved gpu.Buffer
			says                        string
		}{
			{"fewer values than keys", n, keys, fewer, sorted, moved, "values"},
			{"fewer keys than values", n, fewer, values, sorted, moved, "keys"},
			{"fewer moved values than keys", n, keys, values, sorted, fewer, "moved"},
			{"no values", n, keys, nil, sorted, moved, "values"},
			{"sorted in place", n, keys, values, keys, moved, "shares elements"},
			{"values moved in place", n, keys, values, sorted, values, "shares elements"},
			{"sorted over values", n, keys, values, values, moved, "shares elements"},
			{"outputs that are one", n, keys, values, sorted, sorted, "shares elements"},
			{"sorted and keys share one element", n, first, values, second, moved, "shares elements"},
			{"more keys than 30 bits count", 1 << 30, keys, values, sorted, moved, "1073741823"},
			{"a negative number of keys", -1, keys, values, sorted, moved, "-1"},
		} {
			for _, v := range Pairs.Variants {
				h.Variant = v.Name
				buffers := map[string]gpu.Buffer{"keys": c.keys, "values": c.values, "sorted": c.sorted, "moved": c.moved}
				err := h.Run(Pairs, ladder.Size{c.n}, buffers)
				if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, %s: %v, expected one line that wraps %q and has %q", v.Name, c.what, err, gpu.ErrArgument, c.says)
				}
			}
		}
		for _, b := range []gpu.Buffer{keys, values, sorted, moved} {
			now := make([]uint32, n)
			if err := b.Download(now); err != nil || !ladder.SameBits(now, falling(n)) {
				t.Errorf("a call that was refused wrote its operands, %v", err)
			}
		}
	})
}

// falling are numbers that any sort changes.
func falling(n int) []uint32 {
	x := make([]uint32, n)
	for i := range x {
		x[i] = uint32(n - i)
	}
	return x
}

// TestScratchTooSmall has memory for the operands and none, or one buffer, for the scratch,
// which a call allocates itself: one line before a launch, which names the buffer.
func TestScratchTooSmall(t *testing.T) {
	const n = 20_000
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, v := range Pairs.Variants {
			if ladder.Older(device.Info().Compute, v.Needs) {
				t.Logf("%s: not run on %v, which refuses it before it allocates", v.Name, device.Info())
				continue
			}
			for more, name := range []string{"keys_2", "values_2"} {
				d := &short{Device: device, buffers: 1 << 20}
				b := optest.NewBench(t, d, Pairs, 1, n)
				d.buffers = more // the bench has allocated the operands
				_, err := b.Check(v.Name)
				if !errors.Is(err, gpu.ErrMemory) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "alloc "+name) {
					t.Errorf("%s: %v, expected one line that wraps %q and names %s", v.Name, err, gpu.ErrMemory, name)
				}
				if d.launches > 0 {
					t.Errorf("%s: %d launches", v.Name, d.launches)
				}
			}
		}
	})
}
