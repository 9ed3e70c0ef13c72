package emu

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestBlockRacesKnowGridSync: grid.sync() orders the accesses of blocks; without it the
// same kernel is a race.
func TestBlockRacesKnowGridSync(t *testing.T) {
	text, err := os.ReadFile("../gputest/cooperative.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	d, e := loadEntry(t, string(text), "rotate")
	j := &job{T: t, device: d}
	const n, rounds = 300, 7
	x, y := j.alloc("x", make([]uint32, n)), j.alloc("y", make([]uint32, n))
	launch := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 5}, Block: gpu.Dim{X: 64}, Args: []any{x, y, uint32(n), uint32(rounds)},
		Checks: gpu.CheckAll | gpu.CheckBlockRaces, Cooperative: true}
	if err := d.Launch(launch); err != nil {
		t.Errorf("with grid.sync(): %v", err)
	}
	launch.Cooperative = false
	if err := d.Launch(launch); !errors.Is(err, gpu.ErrTrap) || !strings.Contains(err.Error(), "set Cooperative: true") {
		t.Errorf("grid.sync() in a plain launch: %v, expected the remedy", err)
	}
	// The same with only a barrier of the block: its first rounds write words that
	// another block reads.
	// another block reads.
	_, body, _ := strings.Cut(kernel("", `mov.u32 %r5, 0;
again:
	add.u32 %r6, %i, 1;
	rem.u32 %r6, %r6, 256;
	mul.wide.u32 %d1, %r6, 4;
	add.u64 %d1, %d1, %q1;
	ld.global.u32 %r7, [%p0];
	add.u32 %r7, %r7, 1;
	st.global.u32 [%d1], %r7;
	bar.sync 0;
	mov.b64 %d2, %p0; mov.b64 %p0, %p1; mov.b64 %p1, %d2;
	mov.b64 %d2, %q0; mov.b64 %q0, %q1; mov.b64 %q1, %d2;
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %a0, %r5, 4;
	@%a0 bra again;`), ".version")
	j2 := newJob(t, "", "", 4, 64)
	m, err := j2.device.Load("rotate.ptx", ".version"+body)
	if err != nil {
		t.Fatal(err)
	}
	if j2.launch.Entry, err = m.Entry("op"); err != nil {
		t.Fatal(err)
	}
	j2.launch.Checks = gpu.CheckBlockRaces | gpu.CheckDefault
	if err := j2.device.Launch(j2.launch); !errors.Is(err, gpu.ErrRace) || !strings.Contains(err.Error(), "nothing orders the blocks") {
		t.Errorf("without grid.sync(): %v, expected a race", err)
	}
	j2.launch.Checks = gpu.CheckAll
	if err := j2.device.Launch(j2.launch); err != nil {
		t.Errorf("a launch that is not searched: %v", err)
	}
}

// blockRaceText is an entry whose threads load and store words of a buffer, by a table of
// operations and offsets for each step of each thread of the grid.
const blockRaceText = `.version 6.4
.target sm_75
.address_size 64
.visible .entry op(.param .u64 steps, .param .u64 words, .param .u32 n)
{
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .b64 %d<8>;
	ld.param.u64 %d0, [steps];
	ld.param.u64 %d1, [words];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r2, %r1, 64, %r2;
	mul.wide.u32 %d2, %r2, 8;
	add.u64 %d0, %d0, %d2;
again:
	ld.global.v2.u32 {%r3, %r4}, [%d0];
	add.u64 %d0, %d0, 1536;
	BARRIER
	mul.wide.u32 %d3, %r4, 1;
	add.u64 %d3, %d1, %d3;
	setp.eq.u32 %p0, %r3, 0;
	setp.eq.u32 %p1, %r3, 1;
	setp.eq.u32 %p2, %r3, 2;
	setp.eq.u32 %p3, %r3, 3;
	@%p0 ld.global.u32 %r6, [%d3];
	@%p1 st.global.u32 [%d3], %r2;
	@%p2 ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d3];
	@%p3 st.global.v2.u32 [%d3], {%r2, 7};
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p6, %r0, 0;
	@%p6 bra again;
	ret;
}
`

// TestBlockRacesOfPatterns searches random steps of three blocks, with and without barriers,
// for races lane by lane and by the words of known patterns: the first race is the same, or
// there is none.
func TestBlockRacesOfPatterns(t *testing.T) {
	const rounds, steps, blocks, seed = 400, 6, 3, 11
	random := rand.New(rand.NewPCG(seed, 0))
	d, barriers := loadEntry(t, strings.Replace(blockRaceText, "BARRIER", "bar.sync 0;", 1), "op")
	plain, err := d.Load("plain.ptx", strings.Replace(blockRaceText, "BARRIER", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	without, err := plain.Entry("op")
	if err != nil {
		t.Fatal(err)
	}
	d.LimitWorkers(1)
	table, err := d.Alloc(gpu.Uint32, steps*blocks*128)
	if err != nil {
		t.Fatal(err)
	}
	races := 0
	for round := range rounds {
		words, err := d.Alloc(gpu.Uint32, 4096)
		if err == nil {
			err = errors.Join(words.Upload(make([]uint32, 4096)), table.Upload(blockSteps(random, steps, blocks)))
		}
		if err != nil {
			t.Fatal(err)
		}
		words.Label("words")
		said := map[bool]string{}
		for _, long := range []bool{true, false} {
			d.engine.LimitPatterns(long)
			e := barriers
			if round%4 == 0 {
				e = without
			}
			err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: 64}, Args: []any{table, words, uint32(steps)},
				Checks: gpu.CheckDefault | gpu.CheckBlockRaces})
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
		if err := words.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if races < rounds/8 || races > rounds*7/8 {
		t.Errorf("%d of %d rounds have a race, expected some and not all", races, rounds)
	}
}

// blockSteps are steps of blocks: most access a part of the words that is their own, or
// read one that all blocks read. In half of the tables, warps access whole rows of memory.
func blockSteps(random *rand.Rand, steps, blocks int) (table []uint32) {
	stray, dense := random.IntN(2)*8, random.IntN(2) == 0
	for range steps {
		what, shape, to := uint32(random.IntN(4)), random.IntN(3), random.IntN(blocks)
		start, astray := random.IntN(8), random.IntN(3*blocks) // the block that is astray as a whole
		for thread := range 64 * blocks {
			block, at := thread/64, thread%64
			if shape == 1 && what%2 == 0 {
				at = start
			} else if shape == 2 {
				at = (at + start) % 64
			}
			part := block
			if stray > 0 && (dense && block == astray || !dense && random.IntN(400) < stray) {
				part = to
			}
			if what%2 == 0 && (start < 2 || start < 4 && !dense) {
				part = blocks // which all read
			}
			width := 4
			if dense {
				width = []int{1, 1, 4, 2}[what]
			}
			table = append(table, what, uint32(4*(256*part+width*at)))
		}
	}
	return table
}

// TestBlockRacesOfRows: two blocks that access the same whole rows race if one of them stores,
// whichever accesses come before.
func TestBlockRacesOfRows(t *testing.T) {
	const load, save = "ld.global.u32 %r2, [%d1]; ", "st.global.u32 [%d1], %i; "
	for _, c := range []struct{ first, second, says string }{
		{load, load, ""}, {save, save, "write-after-write"}, {save, load, "read-after-write"}, {load, save, "write-after-read"},
		{load, load + save, "write-after-read"}, {load + load, save + load, "write-after-read"}, {load + save, load, "read-after-write"},
	} {
		guarded := func(guard, text string) string {
			return strings.ReplaceAll(strings.ReplaceAll(text, "ld.", guard+" ld."), "st.", guard+" st.")
		}
		j := newJob(t, "", "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %q1; setp.eq.u32 %a0, %r0, 0; "+guarded("@%a0", c.first)+guarded("@!%a0", c.second), 2, 64)
		j.device.LimitWorkers(1)
		j.launch.Checks = gpu.CheckDefault | gpu.CheckBlockRaces
		if err := j.device.Launch(j.launch); (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s then %s: %v, expected %q", c.first, c.second, err, c.says)
		}
	}
}
