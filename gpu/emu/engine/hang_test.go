package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/emu/engine"
)

// load is an entry of a file of package emu's tests.
func load(t *testing.T, file, name string) (*emu.Device, gpu.Entry) {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	m, err := d.Load(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*emu.Device), e
}

func words(t *testing.T, d gpu.Device, n int) gpu.Buffer {
	t.Helper()
	b, err := d.Alloc(gpu.Int32, n)
	if err == nil {
		err = b.Upload(make([]int32, n))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWatchingChangesNoCounter: the counters of launches that wait, and end, are the same
// whether their blocks are watched nearly always or never.
func TestWatchingChangesNoCounter(t *testing.T) {
	for _, name := range []string{"ok_spin_with_time_out", "bad_spin_with_time_out", "ok_lock_with_back_off", "ok_flag_of_nobody", "ok_producer_and_consumer"} {
		var all [2]gpu.Counters
		for i, after := range []uint64{1, 1 << 62} {
			before, visits := engine.Suspect(after, int(after))
			d, e := load(t, "cases.sm_80.ptx", name)
			d.LimitWorkers(1)
			args := []any{words(t, d, 4096), words(t, d, 4096)}
			if strings.Contains(name, "producer") {
				args = append(args, words(t, d, 1), words(t, d, 1), words(t, d, 1))
			}
			err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 64}, Args: args, Counters: &all[i]})
			engine.Suspect(before, visits)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if all[0] != all[1] {
			t.Errorf("%s: %+v when watched, expected %+v", name, all[0], all[1])
		}
	}
}

// TestHangOfWorkers: blocks of several workers hang together; the fault is of the lowest.
func TestHangOfWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		d, e := load(t, "cases.sm_80.ptx", "bad_flag_of_nobody")
		d.LimitWorkers(workers)
		var f *gpu.Fault
		err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 50}, Block: gpu.Dim{X: 64}, Args: []any{words(t, d, 1), words(t, d, 50)}})
		if !errors.As(err, &f) || f.Kind != gpu.ErrHang || *f.Block != (gpu.Dim{}) {
			t.Errorf("%d workers: %v, expected a hang of block 0", workers, err)
		}
	}
}
