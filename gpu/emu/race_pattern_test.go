package emu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
)

// raceText is an entry whose threads execute steps from a table: each step loads or
// stores one or several words of shared memory, at an offset of its own, or is a
// barrier.
const raceText = `.version 7.8
.target sm_90
.address_size 64
.visible .entry op(.param .u64 steps, .param .u32 n)
{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %d<8>;
	.shared .align 16 .b8 tile[2048];
	ld.param.u64 %d0, [steps];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d1, %r1, 8;
	add.u64 %d0, %d0, %d1;
	mov.u32 %r2, tile;
again:
	ld.global.v2.u32 {%r3, %r4}, [%d0];
	add.u64 %d0, %d0, 512;
	add.u32 %r5, %r2, %r4;
	setp.eq.u32 %p0, %r3, 0;
	setp.eq.u32 %p1, %r3, 1;
	setp.eq.u32 %p2, %r3, 2;
	setp.eq.u32 %p3, %r3, 3;
	setp.eq.u32 %p4, %r3, 4;
	setp.eq.u32 %p5, %r3, 5;
	@%p0 ld.shared.u32 %r6, [%r5];
	@%p1 st.shared.u32 [%r5], %r1;
	@%p2 ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];
	@%p3 st.shared.v2.u32 [%r5], {%r1, %r1};
	@!%p4 bra whole;
	bar.sync 0;
whole:
	@!%p5 bra next;
	bar.warp.sync 0xffffffff;
next:
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p6, %r0, 0;
	@%p6 bra again;
	ret;
}
`

// TestRacesOfPatterns searches random steps of two warps for races, with the
// fast path and without: the first race is the same, or there is none.
func TestRacesOfPatterns(t *testing.T) {
	const rounds, steps, seed = 400, 24, 5
	random := rand.New(rand.NewPCG(seed, 0))
	d, e := loadEntry(t, raceText, "op")
	d.LimitWorkers(1)
	buffer, err := d.Alloc(gpu.Uint32, steps*128)
	if err != nil {
		t.Fatal(err)
	}
	races := 0
	for round := range rounds {
		table := make([]uint32, 0, steps*128)
		for range steps {
			table = append(table, raceStep(random, round%4)...)
		}
		if err := buffer.Upload(table); err != nil {
			t.Fatal(err)
		}
		said := map[bool]string{}
		for _, long := range []bool{true, false} {
			d.engine.LimitPatterns(long)
			err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{buffer, uint32(steps)}, Checks: gpu.CheckRaces})
			if err != nil {
				said[long] = err.Error()
			}
		}
		if said[true] != said[false] {
			t.Fatalf("round %d, seed %d: %q, expected %q", round, seed, said[false], said[true])
		}
		if strings.Contains(said[false], "hazard") {
			races++
		}
	}
	if races < rounds/8 || races > rounds*7/8 {
		t.Errorf("%d of %d rounds have a race, expected some and not all", races, rounds)
	}
}

// raceStep is one step of 64 threads: their operations and places. With little care,
// warps and lanes share words; with more, they keep to their own.
func raceStep(random *rand.Rand, care int) (table []uint32) {
	what, shape := uint32(random.IntN(6)), random.IntN(3)
	if care > 0 && random.IntN(3) > 0 {
		what = 4 + uint32(random.IntN(2))
	}
	start := random.IntN(8)
	for thread := range 64 {
		at := thread
		switch {
		case care == 0 && shape == 0:
			at = random.IntN(64)
		case care < 3 && what%2 == 0 && shape == 1:
			at = start
		case care < 2 && shape == 2:
			at = (thread + start) % 64
		case care == 3 && what%2 == 0 && shape == 2:
			at = thread ^ 1
		}
		table = append(table, what, uint32(16*at))
	}
	return table
}
