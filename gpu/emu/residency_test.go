package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"warpbook/gpu"
)

// ownGridBarrier counts the blocks and waits until all have come.
const ownGridBarrier = "atom.global.add.u32 %r2, [%q1], 1; mul.lo.u32 %r4, %r1, %nctaid.x; again: ld.volatile.global.u32 %r3, [%q1]; setp.lt.u32 %a0, %r3, %r4; @%a0 bra again;"

// TestRegistersLimitResidentBlocks: a barrier of more blocks than fit with the registers of a
// thread hangs, and a cooperative launch of them is refused; with few or unknown registers
// both run.
func TestRegistersLimitResidentBlocks(t *testing.T) {
	const sms, threads = 4, 64 // 32 blocks an SM by threads, 4 with 255 registers
	for _, c := range []struct {
		name              string
		registers, blocks int
		hangs             bool
	}{
		{"many", 255, 24, true}, {"many, few blocks", 255, 16, false}, {"few", 32, 24, false}, {"unknown", 0, 24, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJobFor(t, sms, "", ownGridBarrier, c.blocks, threads)
			j.launch.Entry.(*entry).program.CountRegisters(func() int { return c.registers })
			err := j.device.Launch(j.launch)
			if errors.Is(err, gpu.ErrHang) != c.hangs || !c.hangs && err != nil {
				t.Errorf("%v, expected a hang: %v", err, c.hangs)
			}
			if says := "only 16 of the 24 blocks fit on NVIDIA H200 at once with 255 registers per thread"; c.hangs && !strings.Contains(fmt.Sprint(err), says) {
				t.Errorf("%v, expected it to say %q", err, says)
			}
			j.launch.Cooperative = true
			if err := j.p1.Upload(make([]uint32, c.blocks*threads)); err != nil {
				t.Fatal(err)
			}
			if err := j.device.Launch(j.launch); errors.Is(err, gpu.ErrShape) != c.hangs || !c.hangs && err != nil {
				t.Errorf("cooperative: %v, expected it to be refused: %v", err, c.hangs)
			}
		})
	}
}

// TestRegistersAreCountedLate: the registers of a launch are not counted if none of its
// blocks waits for another.
func TestRegistersAreCountedLate(t *testing.T) {
	j := newJobFor(t, 4, "", "st.global.u32 [%p1], 1;", 200, 64)
	j.launch.Entry.(*entry).program.CountRegisters(func() int { t.Error("registers were counted"); return 0 })
	if err := j.device.Launch(j.launch); err != nil {
		t.Error(err)
	}
}
