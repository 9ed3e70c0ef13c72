package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestSpinLock takes a lock in every thread of a warp, of several warps and blocks: it
// ends only if waiting lanes let the owner continue.
func TestSpinLock(t *testing.T) {
	for _, shape := range [][2]int{{1, 32}, {1, 128}, {4, 64}} {
		j := newJob(t, "", `
wait:
	atom.global.cas.b32 %r2, [%q0], 0, 1;
	setp.ne.u32 %a0, %r2, 0;
	@%a0 bra wait;
	ld.volatile.global.u32 %r3, [%q1];
	add.u32 %r3, %r3, 1;
	st.volatile.global.u32 [%q1], %r3;
	membar.gl;
	atom.global.exch.b32 %r4, [%q0], 0;
`, shape[0], shape[1])
		if v := j.run(); v[0] != uint32(shape[0]*shape[1]) {
			t.Errorf("%v: %d threads had the lock, expected %d", shape, v[0], shape[0]*shape[1])
		}
	}
}

// TestWarpsWait makes a warp spin on a flag that a later warp sets.
func TestWarpsWait(t *testing.T) {
	j := newJob(t, "", `
	setp.ge.u32 %a0, %t, 32;
	@%a0 bra later;
wait:
	ld.volatile.global.u32 %r2, [%q1+400];
	setp.eq.u32 %a1, %r2, 0;
	@%a1 bra wait;
	st.global.u32 [%p1], %r2;
	ret;
later:
	st.volatile.global.u32 [%q1+400], 9;
`, 1, 128)
	j.expect(func(i int) uint32 {
		if i < 32 || i == 100 {
			return 9
		}
		return 0
	})
}

// grid is a barrier of all blocks: the last one to arrive opens it.
const grid = `
	bar.sync 0;
	setp.ne.u32 %a0, %t, 0;
	@%a0 bra past;
	mov.u32 %r5, %nctaid.x;
	atom.global.add.u32 %r6, [%q0], 1;
wait:
	ld.volatile.global.u32 %r7, [%q0];
	setp.lt.u32 %a1, %r7, %r5;
	@%a1 bra wait;
past:
	bar.sync 0;
`

// TestGridBarrier makes blocks wait for blocks that start later, with one worker and
// with several: each then reads the word that the last block wrote.
func TestGridBarrier(t *testing.T) {
	for _, workers := range []int{1, 2} {
		j := newJob(t, "", `
	sub.u32 %r2, %n, 1;
	sub.u32 %r2, %r2, %i;
	mul.wide.u32 %d1, %r2, 4;
	add.u64 %d1, %d1, %q1;
	add.u32 %r3, %i, 7;
	st.volatile.global.u32 [%d1], %r3;
`+grid+`
	ld.volatile.global.u32 %r4, [%p1];
	atom.global.add.u32 %r8, [%p1], %r4;
`, 100, 64)
		j.device.LimitWorkers(workers)
		last := uint32(100*64 - 1)
		j.expect(func(i int) uint32 { return 2 * (last - uint32(i) + 7) })
		if c := j.counters.GlobalAtomic.Requests; c != 100*2+100 {
			t.Errorf("%d atomics, expected %d", c, 100*2+100)
		}
	}
}

// TestNotResident makes more blocks wait for each other than a GPU holds at once: they
// hang.
func TestNotResident(t *testing.T) {
	j := newJobFor(t, 12, "", grid, 12+1, 64)
	j.launch.Shared = 120 << 10 // of 228 KiB of a multiprocessor
	if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrHang) || !strings.Contains(err.Error(), "only 12 of the 13 blocks fit") {
		t.Errorf("%v, expected a hang: the last block has no room", err)
	}
	j.launch.Grid.X--
	if err := j.p0.Upload(make([]uint32, j.p0.Len())); err != nil {
		t.Fatal(err)
	}
	j.run()
}

// TestLookBack makes every block wait for the one before it, in more blocks than the GPU
// holds at once: they start in order, so that each can continue.
func TestLookBack(t *testing.T) {
	const sms = 12 // waits take the square of them
	const blocks = 3*sms + 1
	for _, workers := range []int{1, 2, 5} {
		j := newJobFor(t, sms, "", `
	setp.ne.u32 %a0, %t, 0;
	@%a0 bra past;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d1, %d1, %q1;
	setp.eq.u32 %a1, %r0, 0;
	mov.u32 %r3, 0;
	@%a1 bra first;
wait:
	ld.volatile.global.u32 %r3, [%d1+-4];
	setp.eq.u32 %a2, %r3, 0;
	@%a2 bra wait;
first:
	add.u32 %r3, %r3, 1;
	st.volatile.global.u32 [%d1], %r3;
past:
`, blocks, 32)
		j.launch.Shared = 120 << 10 // of 228 KiB of a multiprocessor
		j.device.LimitWorkers(workers)
		j.device.LimitSteps(50_000_000)
		for i, v := range j.run()[:blocks] {
			if v != uint32(i+1) {
				t.Fatalf("%d workers: block %d has %d, expected %d", workers, i, v, i+1)
			}
		}
	}
}

// TestBarriers passes values through shared memory, with a named barrier for
// half of the block, arrivals and reductions.
func TestBarriers(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[512];", `
	mov.u32 %r2, s;
	shl.b32 %r3, %t, 2;
	add.u32 %r3, %r3, %r2;
	st.shared.u32 [%r3], %t;
	bar.sync 0;
	xor.b32 %r4, %t, 127;
	shl.b32 %r4, %r4, 2;
	add.u32 %r4, %r4, %r2;
	ld.shared.u32 %r5, [%r4];
	setp.lt.u32 %a0, %t, 64;
	@%a0 bra low;
	bar.arrive 2, 128;
	bra join;
low:
	bar.sync 1, 64;
	bar.sync 2, 128;
join:
	setp.lt.u32 %a1, %t, 5;
	barrier.red.popc.u32 %r6, 3, %a1;
	bar.red.or.pred %a2, 4, %a1;
	bar.red.and.pred %a3, 5, !%a1;
	selp.u32 %r7, 1, 0, %a2;
	selp.u32 %r8, 1, 0, %a3;
	mad.lo.u32 %r5, %r6, 1000, %r5;
	mad.lo.u32 %r5, %r7, 100000, %r5;
	mad.lo.u32 %r5, %r8, 200000, %r5;
	st.global.u32 [%p1], %r5;
`, 2, 128)
	j.expect(func(i int) uint32 { return 100000 + 5*1000 + (uint32(i%128) ^ 127) })
	// 4 warps of each block: barriers 0, 3, 4 and 5 in all, 2 in all, 1 in two.
	if j.counters.Barriers != 2*(4*5+2) {
		t.Errorf("%d barriers, expected %d", j.counters.Barriers, 2*(4*5+2))
	}
}

// TestShuffles compares every mode with its definition, for whole warps and for tiles
// that name only their own lanes.
func TestShuffles(t *testing.T) {
	for mode, source := range map[string]func(lane, b, first, last int) int{
		"down": func(l, b, _, last int) int { return l + b },
		"up":   func(l, b, first, _ int) int { return l - b },
		"bfly": func(l, b, _, _ int) int { return l ^ b },
		"idx":  func(l, b, first, _ int) int { return first + b },
	} {
		for _, width := range []int{32, 16, 8, 2} {
			for _, b := range []int{0, 1, width / 2, width - 1} {
				clamp := 31
				if mode == "up" {
					clamp = 0
				}
				c := (32-width)<<8 | clamp
				j := newJob(t, "", fmt.Sprintf(`
	mov.u32 %%r2, %%laneid;
	and.b32 %%r3, %%r2, %d;
	sub.u32 %%r4, %%r2, %%r3;
	mov.u32 %%r5, %d;
	shl.b32 %%r5, %%r5, %%r4;
	mul.lo.u32 %%r6, %%r2, 10;
	shfl.sync.%s.b32 %%r7|%%a0, %%r6, %d, %#x, %%r5;
	selp.u32 %%r8, 1000, 0, %%a0;
	add.u32 %%r7, %%r7, %%r8;
	st.global.u32 [%%p1], %%r7;
`, width-1, uint32(1<<width-1), mode, b, c), 1, 64)
				j.expect(func(i int) uint32 {
					lane := i % 32
					first := lane / width * width
					from := source(lane, b, first, first+width-1)
					if from < first || from >= first+width {
						return uint32(10 * lane)
					}
					return uint32(1000 + 10*from)
				})
			}
		}
	}
}

// TestSyncWaits: lanes reach a shuffle, and a warp barrier, at different times and from
// different branches.
func TestSyncWaits(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[128];", `
	mov.u32 %r9, s;
	shl.b32 %r2, %t, 2;
	add.u32 %r2, %r2, %r9;
	and.b32 %r3, %t, 1;
	setp.ne.u32 %a0, %r3, 0;
	@%a0 bra odd;
	st.shared.u32 [%r2], %t;
	bar.warp.sync 0xffffffff;
	bra both;
odd:
	mul.lo.u32 %r4, %t, 3;
	st.shared.u32 [%r2], %r4;
	bar.warp.sync 0xffffffff;
both:
	xor.b32 %r5, %r2, 4;
	ld.shared.u32 %r6, [%r5];
	shfl.sync.bfly.b32 %r7, %r6, 1, 31, 0xffffffff;
	mad.lo.u32 %r6, %r7, 1000, %r6;
	st.global.u32 [%p1], %r6;
`, 1, 32)
	value := func(i int) uint32 { return uint32(i * (1 + i%2*2)) }
	j.expect(func(i int) uint32 { return value(i^1) + 1000*value(i) })
	if j.counters.WarpSyncs != 2 || j.counters.Shuffles != 1 {
		t.Errorf("%d warp barriers and %d shuffles, expected 2 and 1", j.counters.WarpSyncs, j.counters.Shuffles)
	}
}

// TestVotes checks vote, match and redux against their definitions.
func TestVotes(t *testing.T) {
	j := newJob(t, "", `
	setp.lt.u32 %a0, %t, 10;
	vote.sync.ballot.b32 %r2, %a0, 0xffffffff;
	vote.sync.any.pred %a1, !%a0, 0xffffffff;
	vote.sync.all.pred %a2, %a0, 0xffffffff;
	vote.sync.uni.pred %a3, %a0, 0xffffffff;
	and.b32 %r3, %t, 3;
	match.any.sync.b32 %r4, %r3, 0xffffffff;
	match.all.sync.b32 %r5|%a4, %r3, 0xffffffff;
	redux.sync.add.s32 %r6, %t, 0xffffffff;
	redux.sync.min.u32 %r7, %t, 0xffffffff;
	selp.u32 %r8, 1, 0, %a1;
	selp.u32 %r9, 2, 0, %a2;
	selp.u32 %r10, 4, 0, %a3;
	selp.u32 %r11, 8, 0, %a4;
	add.u32 %r8, %r8, %r9;
	add.u32 %r8, %r8, %r10;
	add.u32 %r8, %r8, %r11;
	add.u32 %r8, %r8, %r5;
	xor.b32 %r2, %r2, %r4;
	add.u32 %r2, %r2, %r6;
	add.u32 %r2, %r2, %r7;
	mad.lo.u32 %r2, %r8, 65536, %r2;
	st.global.u32 [%p1], %r2;
`, 1, 64)
	j.expect(func(i int) uint32 {
		ballot, flags, sum, least := uint32(1<<10-1), uint32(1), uint32(31*16), uint32(0)
		if i >= 32 { // no thread of the second warp is below 10
			ballot, flags, sum, least = 0, 1+4, 32*32+31*16, 32
		}
		return (ballot ^ uint32(0x11111111)<<(i%4)) + sum + least + flags<<16
	})
}
