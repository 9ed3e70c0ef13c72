package emu

import (
	"reflect"
	"testing"

	"warpbook/gpu"
)

// TestProfile counts a kernel by instruction: every number is derived beside it, and
// their sums are the counters.
func TestProfile(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[8192];", `
	shl.b32 %r2, %t, 3;            // line 22: stride 2
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
	var p gpu.Profile
	j.launch.Profile = &p
	j.run()
	if p.Entry != "op" || p.File != "test.ptx" {
		t.Errorf("profile of %s in %s", p.Entry, p.File)
	}
	lines := map[int]gpu.InstructionProfile{}
	var sum gpu.Counters
	for _, in := range p.Instructions {
		lines[in.Line] = in
		sum.WarpInstructions += in.Warps
		sum.ThreadInstructions += in.Threads
		sum.DivergentBranches += in.Divergent
	}
	c := j.counters
	if sum.WarpInstructions != c.WarpInstructions || sum.ThreadInstructions != c.ThreadInstructions || sum.DivergentBranches != c.DivergentBranches {
		t.Errorf("sums %+v, counters %+v", sum, c)
	}
	if l := lines[28]; l.Name != "setp.ge.u32" || l.Warps != 8 || l.Threads != 4*64 {
		t.Errorf("comparison of the thread's index %+v, expected 8 warps, although it runs before the blocks", l)
	}
	if b := lines[29]; b.Name != "bra" || b.Warps != 8 || b.Threads != 4*64 || b.Divergent != 4 {
		t.Errorf("branch %+v, expected 8 warps, 4 of them divergent", b)
	}
	if l := lines[30]; l.Warps != 8 || l.Threads != 4*48 || l.Shared != c.SharedLoad || len(l.Requests) != 2 {
		t.Errorf("shared load %+v, expected 8 warps, 192 threads, 2 patterns, %+v", l, c.SharedLoad)
	} else if r := l.Requests[0]; r.Count != 4 || r.Mask != all || r.Address[31] != 8*31 || !r.Shared || r.Memory != "s" || r.Warp != 0 || r.Cost() != 8 {
		t.Errorf("request %+v, expected that of the whole warps", r)
	}
	if l := lines[25]; l.Global != c.GlobalLoad || len(l.Requests) != 1 || l.Requests[0].Count != 8 || l.Requests[0].Memory != "buffer input" {
		t.Errorf("global load %+v, expected one pattern of 8 requests", l)
	}
}

// TestProfileDoesNotDepend profiles with one worker and with several.
func TestProfileDoesNotDepend(t *testing.T) {
	d, m := loadWorkloads(t)
	var first gpu.Profile
	for workers := 1; workers <= 4; workers++ {
		d.LimitWorkers(workers)
		p := profileSum(t, d, m)
		if workers == 1 {
			first = p
		} else if !reflect.DeepEqual(p, first) {
			t.Errorf("%d workers profile otherwise than one", workers)
		}
	}
}

func profileSum(t *testing.T, d *Device, m gpu.Module) (p gpu.Profile) {
	t.Helper()
	const n = 100_000
	e, err := m.Entry("sum_interleaved")
	if err != nil {
		t.Fatal(err)
	}
	blocks := (n + 255) / 256
	j := &job{T: t, device: d}
	x, y := j.alloc("x", make([]uint32, n)), j.alloc("y", make([]uint32, blocks))
	err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 256}, Args: []any{x, y, uint32(n)}, Profile: &p})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
