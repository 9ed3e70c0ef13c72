package emu

import (
	"errors"
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
