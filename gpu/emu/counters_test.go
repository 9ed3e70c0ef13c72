package emu

import (
	"os"
	"testing"
	"time"

	"warpbook/gpu"
)

// TestCountersByHand counts a kernel whose every number is derived beside it.
func TestCountersByHand(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[8192];", `
	shl.b32 %r2, %t, 3;            // stride 2
	mov.u32 %r3, s;
	add.u32 %r2, %r2, %r3;
	ld.global.u32 %r4, [%p0];
	st.shared.u32 [%r2], %r4;
	bar.sync 0;
	setp.ge.u32 %a0, %t, 48;
	@%a0 bra done;
	ld.shared.u32 %r5, [%r2];
	st.global.u32 [%p1], %r5;
done:
`, 4, 64)
	j.run()
	c := j.counters
	// 4 blocks of 2 warps. The second warp of each has 16 threads below 48.
	want := gpu.Counters{
		// Prologue 10, body 8 up to the branch, 2 after it, ret.
		WarpInstructions:   8 * (10 + 8 + 2 + 1),
		ThreadInstructions: 4*64*(10+8+1) + 4*48*2,
		Branches:           8, DivergentBranches: 4, Barriers: 8,
		GlobalLoad:  gpu.GlobalAccess{Requests: 8, Sectors: 32, Lines: 8, Bytes: 1024},
		GlobalStore: gpu.GlobalAccess{Requests: 8, Sectors: 4*4 + 4*2, Lines: 8, Bytes: 4 * 48 * 4},
		SharedLoad:  gpu.SharedAccess{Requests: 8, Wavefronts: 4*2 + 4, Conflicts: 4, Bytes: 4 * 48 * 4},
		SharedStore: gpu.SharedAccess{Requests: 8, Wavefronts: 16, Conflicts: 8, Bytes: 1024},
	}
	if c != want {
		t.Errorf("counted\n%+v, expected\n%+v", c, want)
	}
}

// TestCountersDoNotDepend runs a launch with different numbers of workers.
func TestCountersDoNotDepend(t *testing.T) {
	d, m := loadWorkloads(t)
	var first gpu.Counters
	for workers := 1; workers <= 4; workers++ {
		d.LimitWorkers(workers)
		c := countSum(t, d, m, 100_000)
		if workers == 1 {
			first = c
		} else if c != first {
			t.Errorf("%d workers count %+v, one counts %+v", workers, c, first)
		}
	}
}

func loadWorkloads(tb testing.TB) (*Device, gpu.Module) {
	tb.Helper()
	text, err := os.ReadFile("testdata/workloads.sm_75.ptx")
	if err != nil {
		tb.Fatal(err)
	}
	d, err := Open("")
	if err != nil {
		tb.Fatal(err)
	}
	m, err := d.Load("workloads.sm_75.ptx", string(text))
	if err != nil {
		tb.Fatal(err)
	}
	return d.(*Device), m
}

func countSum(t *testing.T, d *Device, m gpu.Module, n int) (c gpu.Counters) {
	t.Helper()
	e, err := m.Entry("sum_interleaved")
	if err != nil {
		t.Fatal(err)
	}
	blocks := (n + 255) / 256
	j := &job{T: t, device: d}
	x, y := j.alloc("x", make([]uint32, n)), j.alloc("y", make([]uint32, blocks))
	err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 256}, Args: []any{x, y, uint32(n)}, Counters: &c})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkSmallLaunch is the fixed cost of a launch, and that of the first launch of
// its entry, which allocates the registers.
func BenchmarkSmallLaunch(b *testing.B) {
	d, e := loadEntry(b, kernel("", ""), "op")
	x, err := d.Alloc(gpu.Uint32, 32)
	if err != nil {
		b.Fatal(err)
	}
	l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 256}, Args: []any{x, x, uint32(32)}}
	launch := func() time.Duration {
		start := time.Now()
		if err := d.Launch(l); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	first, least := launch(), time.Duration(1<<63-1)
	for b.Loop() {
		least = min(least, launch())
	}
	b.ReportMetric(float64(first.Nanoseconds()), "first-ns/op")
	b.ReportMetric(float64(least.Nanoseconds()), "least-ns/op")
}
