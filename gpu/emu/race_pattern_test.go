package emu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
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

// TestRacesOfPatterns searches random steps of two warps for races by marks, and by rows
// in Go and in assembly: the first race is the same, or there is none.
func TestRacesOfPatterns(t *testing.T) {
	const rounds, steps, seed = 1600, 24, 5
	random := rand.New(rand.NewPCG(seed, 0))
	d, e := loadEntry(t, raceText, "op")
	d.LimitWorkers(1)
	buffer, err := d.Alloc(gpu.Uint32, steps*128)
	if err != nil {
		t.Fatal(err)
	}
	type way struct {
		long    bool
		vectors simd.Vectors
	}
	ways := []way{{true, simd.NoVectors}, {false, simd.NoVectors}}
	for v := simd.AVX2; v <= simd.Best; v++ {
		ways = append(ways, way{false, v})
	}
	races := 0
	for round := range rounds {
		table, skew := make([]uint32, 0, steps*128), random.IntN(10)
		for range steps {
			if round%2 == 0 {
				table = append(table, raceStep(random, round/2%4, skew)...)
			} else {
				table = append(table, narrowStep(random, skew)...)
			}
		}
		if err := buffer.Upload(table); err != nil {
			t.Fatal(err)
		}
		want := ""
		for i, way := range ways {
			d.engine.LimitPatterns(way.long)
			d.LimitVectors(way.vectors)
			said := ""
			err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: 64}, Args: []any{buffer, uint32(steps)}, Checks: gpu.CheckRaces | gpu.CheckAlignment})
			if err != nil {
				said = err.Error()
			}
			if i == 0 {
				want = said
			}
			if said != want {
				t.Fatalf("round %d, seed %d, %+v: %q, expected %q", round, seed, way, said, want)
			}
		}
		if strings.Contains(want, "hazard") {
			races++
		}
	}
	if races < rounds/8 || races > rounds*7/8 {
		t.Errorf("%d of %d rounds have a race, expected some and not all", races, rounds)
	}
}

// raceStep is one step of 64 threads: their operations and places. With little care,
// warps and lanes share words; with more, they keep to their own. Words are neighbours or
// lie four apart.
func raceStep(random *rand.Rand, care, skew int) (table []uint32) {
	what, shape := uint32(random.IntN(6)), random.IntN(3)
	if care > 0 && random.IntN(3) > 0 {
		what = 4 + uint32(random.IntN(2))
	}
	start, apart := random.IntN(8), uint32(4)
	if random.IntN(3) == 0 {
		apart = 16
	}
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
		width := [...]uint32{1, 1, 4, 2, 1, 1}[what]
		table = append(table, what, (apart*uint32(at)+4*uint32(skew))&^(4*width-1))
	}
	return table
}

// narrowStep is a barrier, or a step of some neighbouring lanes of one warp or both: they
// access the words of their lanes, of other lanes, or of the other warp.
func narrowStep(random *rand.Rand, skew int) (table []uint32) {
	const nothing = 6
	what := [...]uint32{0, 0, 1, 1, 4, 4, 4, 5}[random.IntN(8)]
	first, lanes, warp, shape, start := random.IntN(32), 1+random.IntN(8), random.IntN(3), random.IntN(12), random.IntN(8)
	for thread := range 64 {
		lane, at := thread%32, thread
		switch shape {
		case 0:
			at = thread ^ 1
		case 1:
			at = lane
		case 2:
			at = (thread + start) % 64
		case 3:
			at = thread ^ 32
		}
		does := what
		if what < 4 && (lane < first || lane >= first+lanes || warp == 1-thread/32) {
			does = nothing
		}
		table = append(table, does, 4*uint32(at+skew))
	}
	return table
}
