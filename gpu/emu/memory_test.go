package emu

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestMemory compares the memory of buffers and launches with all checks, freed or not,
// with the documented bound: twice the buffers and 64 MB.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: a minute with it, and other launches have as many goroutines")
	}
	sums, err := os.ReadFile("testdata/workloads.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	// Bytes of all shared memory that a block can have, by as many threads.
	narrow := kernel(".reg .b16 %h;",
		"mov.u32 %r2, dynamic; add.u32 %r2, %r2, %t; cvt.u16.u32 %h, %t; st.shared.u8 [%r2], %h; bar.sync 0; ld.shared.u8 %h, [%r2]; st.global.u32 [%p1], %t;")
	narrow = strings.Replace(narrow, ".visible", ".extern .shared .align 16 .b8 dynamic[];\n.visible", 1)
	for _, c := range []struct {
		name, text, entry string
		elements, block   int
		shared            int
	}{
		{"sums", string(sums), "sum_interleaved", 2 << 20, 256, 0},
		{"much shared memory", narrow, "op", 1 << 20, 1024, 227 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, e := loadEntry(t, c.text, c.entry)
			used := allocatedBy(func() {
				var buffers [2]gpu.Buffer
				for i := range buffers {
					if buffers[i], err = d.Alloc(gpu.Uint32, c.elements); err != nil {
						t.Fatal(err)
					}
					if err := d.Zero(buffers[i]); err != nil {
						t.Fatal(err)
					}
				}
				var counters gpu.Counters
				l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: c.elements / c.block}, Block: gpu.Dim{X: c.block}, Shared: c.shared,
					Args: []any{buffers[0], buffers[1], uint32(c.elements)}, Counters: &counters, Checks: gpu.CheckAll}
				for range 2 {
					if err := d.Launch(l); err != nil {
						t.Fatal(err)
					}
				}
			})
			if buffers := int64(2 * 4 * c.elements); used > 2*buffers+64<<20 {
				t.Errorf("%d MB for buffers of %d MB, expected at most twice that and 64 MB", used>>20, buffers>>20)
			} else {
				t.Logf("%d MB for buffers of %d MB", used>>20, buffers>>20)
			}
		})
	}
}

// allocatedBy is the heap memory that f allocates.
func allocatedBy(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
