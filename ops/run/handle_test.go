package run

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// Operators of any kind run on buffers by their names.
func TestHandleRun(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := NewHandle(d)
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		defer func() { ok(h.Close()) }()
		buffer := func(values []float32) gpu.Buffer {
			b, err := d.Alloc(gpu.Float32, len(values))
			ok(err)
			t.Cleanup(func() { ok(b.Free()) })
			ok(b.Upload(values))
			return b
		}
		b := map[string]gpu.Buffer{"x": buffer([]float32{1, 2, 3, 100}), "y": buffer(ladder.Poisoned(2))}
		h.Variant = "sum_blocks"
		ok(h.Run(sample.Operator, ladder.Size{3}, b))
		got := make([]float32, 2)
		ok(b["y"].Download(got))
		if got[0] != 6 || math.Float32bits(got[1]) != math.Float32bits(ladder.Poison) {
			t.Errorf("%v, expected 6 and poison", got)
		}
		y := b["y"]
		for _, x := range []struct {
			y    map[string]gpu.Buffer
			size ladder.Size
			says string
		}{
			{map[string]gpu.Buffer{"x": y}, ladder.Size{3}, "ops: sample: x: invalid argument: a buffer of 2 elements, expected at least 3: 1 x 3"},
			{map[string]gpu.Buffer{"x": y}, ladder.Size{1}, "ops: sample: y: invalid argument: no buffer, expected one of " + d.Info().Name},
			{map[string]gpu.Buffer{"x": y, "y": y}, ladder.Size{2}, "ops: sample: y: invalid argument: it shares elements with x, expected memory of its own: an output is written while the other operands are read"},
			{map[string]gpu.Buffer{"x": b["x"], "y": y, "z": y}, ladder.Size{2}, "ops: sample: z: invalid argument: there is no such operand, expected x, y"},
			{b, ladder.Size{-1}, "ops: sample: n = -1: invalid argument, expected 0 to 2147483647"},
		} {
			if err := h.Run(sample.Operator, x.size, x.y); fmt.Sprint(err) != x.says {
				t.Errorf("%v, expected %s", err, x.says)
			}
		}
	})
}

// waiting counts how often a device is waited for.
type waiting struct {
	gpu.Device
	syncs int
}

func (w *waiting) Sync() error {
	w.syncs++
	return w.Device.Sync()
}

// Calls of a handle with Async do not wait for the device, and run one after the other, with
// scratch that they share. A download has the result of all of them.
func TestAsyncHandle(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		counting := &waiting{Device: d}
		for _, async := range []bool{false, true} {
			h := NewHandle(counting)
			h.Variant, h.Async, counting.syncs = "sum_ticket", async, 0
			lengths := []int{20000, 10001, 300}
			var x, y [3]gpu.Buffer
			for i, n := range lengths {
				var err1, err2 error
				x[i], err1 = d.Alloc(gpu.Float32, n)
				y[i], err2 = d.Alloc(gpu.Float32, 1)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(x[i].Upload(slices.Repeat([]float32{1}, n)), y[i].Upload(ladder.Poisoned(1))); err != nil {
					t.Fatal(err)
				}
			}
			for i, n := range lengths {
				if err := h.Launch(sample.Operator, ladder.Size{n}, map[string]gpu.Buffer{"x": x[i], "y": y[i]}); err != nil {
					t.Fatal(err)
				}
			}
			if want := map[bool]int{false: 3, true: 0}[async]; counting.syncs != want {
				t.Errorf("async %v: the device was waited for %d times, expected %d", async, counting.syncs, want)
			}
			for i, n := range lengths {
				got := []float32{0}
				if err := errors.Join(y[i].Download(got), x[i].Free(), y[i].Free()); err != nil || got[0] != float32(n) {
					t.Errorf("async %v: call %d: %v, %v, expected %d", async, i, got, err, n)
				}
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Calls of several goroutines run one after the other: they share scratch and modules.
func TestHandleOfManyGoroutines(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := NewHandle(d)
		defer h.Close()
		h.Variant = "sum_ticket"
		var group sync.WaitGroup
		for i := range 4 {
			n := 5000 + 1000*i
			x, err1 := d.Alloc(gpu.Float32, n)
			y, err2 := d.Alloc(gpu.Float32, 1)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if err := x.Upload(slices.Repeat([]float32{1}, n)); err != nil {
				t.Fatal(err)
			}
			group.Go(func() {
				for range 20 {
					got := []float32{0}
					err := errors.Join(y.Upload(ladder.Poisoned(1)), h.Launch(sample.Operator, ladder.Size{n}, map[string]gpu.Buffer{"x": x, "y": y}), y.Download(got))
					if err != nil || got[0] != float32(n) {
						t.Errorf("%v, %v, expected %d", got, err, n)
						return
					}
				}
			})
		}
		group.Wait()
	})
}

// An interrupt ends what runs then. Calls after it round the halves of their tables as before.
func TestHandleAfterInterrupt(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		v, err := sample.Operator.Variant("sum_blocks")
		if err != nil {
			t.Fatal(err)
		}
		plan := v.Plan
		v.Plan = func(name string, size ladder.Size, info gpu.Info) ladder.Plan {
			p := plan(name, size, info)
			p.Tables = []ladder.Table{{Tensor: ladder.Tensor{Name: "halves", Type: gpu.Float16, Len: 2}, Values: []float32{1, 2}}}
			return p
		}
		o := *sample.Operator
		o.Variants = []ladder.Variant{v}
		x, err1 := d.Alloc(gpu.Float32, 2)
		y, err2 := d.Alloc(gpu.Float32, 1)
		if err := errors.Join(err1, err2, x.Upload([]float32{1, 2})); err != nil {
			t.Fatal(err)
		}
		h := NewHandle(d)
		defer h.Close()
		d.Interrupt()
		got := []float32{0}
		err = errors.Join(h.Launch(&o, ladder.Size{2}, map[string]gpu.Buffer{"x": x, "y": y}), y.Download(got))
		if err != nil || got[0] != 3 {
			t.Errorf("%v, %v, expected 3", got, err)
		}
	})
}

func TestHandleString(t *testing.T) {
	d := device.MustOpen("emu")
	defer d.Close()
	h := NewHandle(d)
	h.Variant = "sum_atomic"
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := h.String(), "handle on "+d.Info().String()+", variant sum_atomic, closed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run that was interrupted left the count of blocks that have finished as it was:
// the next call of a handle begins at 0.
func TestTicketsAreCleared(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := NewHandle(d)
		defer h.Close()
		var b [2]gpu.Buffer
		for i, n := range []int{8193, 1} {
			var err error
			if b[i], err = d.Alloc(gpu.Float32, n); err != nil {
				t.Fatal(err)
			}
			defer b[i].Free()
			if err := b[i].Upload(slices.Repeat([]float32{1}, n)); err != nil {
				t.Fatal(err)
			}
		}
		h.Variant = "sum_ticket"
		for range 2 {
			if err := h.Run(sample.Operator, ladder.Size{8193}, map[string]gpu.Buffer{"x": b[0], "y": b[1]}); err != nil {
				t.Fatal(err)
			}
			got := []float32{0}
			if err := b[1].Download(got); err != nil || got[0] != 8193 {
				t.Errorf("%v, %v, expected 8193", got, err)
			}
			ticket, err := h.modules["sample"].Global("sum_ticket_ticket")
			if err == nil {
				err = ticket.Upload([]uint8{3, 0, 0, 0})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// allocating counts allocations.
type allocating struct {
	gpu.Device
	allocs int
}

func (a *allocating) Alloc(t gpu.Type, n int) (gpu.Buffer, error) {
	a.allocs++
	return a.Device.Alloc(t, n)
}

// Calls of a handle use the scratch of earlier ones, as long as it is large enough and has
// not been lost, and give the sums of vectors of any length in any order.
func TestHandleKeepsScratch(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		counting := &allocating{Device: d}
		h := NewHandle(counting)
		for i, c := range []struct{ n, allocs int }{{20000, 1}, {20000, 0}, {300, 0}, {40000, 1}, {20000, 0}, {40000, 1}} {
			if i == 5 { // as after the end of a worker
				for _, b := range h.scratch {
					if err := b.Free(); err != nil {
						t.Fatal(err)
					}
				}
			}
			x, err1 := d.Alloc(gpu.Float32, c.n)
			y, err2 := d.Alloc(gpu.Float32, 1)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(x.Upload(slices.Repeat([]float32{1}, c.n)), y.Upload(ladder.Poisoned(1))); err != nil {
				t.Fatal(err)
			}
			counting.allocs = 0
			h.Variant = "sum_ticket"
			if err := h.Launch(sample.Operator, ladder.Size{c.n}, map[string]gpu.Buffer{"x": x, "y": y}); err != nil {
				t.Fatal(err)
			}
			got := []float32{0}
			if err := errors.Join(y.Download(got), x.Free(), y.Free()); err != nil || got[0] != float32(c.n) {
				t.Errorf("call %d: %v, %v, expected %d", i, got, err, c.n)
			}
			if counting.allocs != c.allocs {
				t.Errorf("call %d of %d elements: %d allocations, expected %d", i, c.n, counting.allocs, c.allocs)
			}
		}
		if err := h.Close(); err != nil || len(h.scratch) > 0 {
			t.Errorf("%v, %d buffers are left", err, len(h.scratch))
		}
	})
}

// full is a device whose next Alloc, or the next Sync, returns an error.
type full struct {
	gpu.Device
	alloc, sync error
}

func (f *full) Alloc(t gpu.Type, n int) (gpu.Buffer, error) {
	if err := f.alloc; err != nil {
		f.alloc = nil
		return nil, err
	}
	return f.Device.Alloc(t, n)
}

func (f *full) Sync() error {
	err := f.sync
	f.sync = nil
	return errors.Join(err, f.Device.Sync())
}

// A call for whose scratch there is no memory frees that of earlier calls and allocates again.
// A lack of memory that a Sync returns may be of earlier work: the call returns it.
func TestHandleWithoutMemory(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		device := &full{Device: d}
		h := NewHandle(device)
		h.Variant = "sum_ticket"
		x, err1 := d.Alloc(gpu.Float32, 40000)
		y, err2 := d.Alloc(gpu.Float32, 1)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if err := x.Upload(slices.Repeat([]float32{1}, 40000)); err != nil {
			t.Fatal(err)
		}
		call := func(n int) error {
			return h.Launch(sample.Operator, ladder.Size{n}, map[string]gpu.Buffer{"x": x, "y": y})
		}
		if err := call(20000); err != nil {
			t.Fatal(err)
		}
		for name, buffer := range maps.Clone(h.scratch) {
			delete(h.scratch, name)
			h.scratch["another operator's "+name] = buffer
		}
		device.alloc = fmt.Errorf("alloc: %w", gpu.ErrMemory)
		got := []float32{0}
		if err := errors.Join(call(40000), y.Download(got)); err != nil || got[0] != 40000 || len(h.scratch) != 1 {
			t.Errorf("%v, %v and scratch of %d names, expected 40000 and the scratch of the call", got, err, len(h.scratch))
		}
		device.sync = fmt.Errorf("launch: %w: of earlier work", gpu.ErrMemory)
		if err := call(40000); !errors.Is(err, gpu.ErrMemory) || !strings.Contains(err.Error(), "earlier work") {
			t.Errorf("%v, expected the error of earlier work", err)
		}
		if err := errors.Join(h.Close(), x.Free(), y.Free()); err != nil {
			t.Error(err)
		}
	})
}
