package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// TestWaitingWriterIsNoHang: while work that writes memory waits for a launch, which on a
// GPU would run in another stream, polling goes on until it is interrupted.
func TestWaitingWriterIsNoHang(t *testing.T) {
	j := newJob(t, "", "again: ld.volatile.global.u32 %r2, [%q1]; setp.eq.u32 %a0, %r2, 0; @%a0 bra again;", 2, 64)
	if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrHang) {
		t.Fatalf("%v, expected a hang", err)
	}
	j.device.run.writers.Add(1)
	done := make(chan error, 1)
	go func() { done <- j.device.Launch(j.launch) }()
	j.begun()
	select {
	case err := <-done:
		t.Errorf("%v, expected that it waits for the writer", err)
	case <-time.After(200 * time.Millisecond):
		j.device.Interrupt()
		if err := <-done; !errors.Is(err, gpu.ErrInterrupted) {
			t.Errorf("%v, expected an interrupt", err)
		}
	}
}

// TestClocksInWaits: a wait that reads a clock only to sleep longer, as those of libcu++ do,
// hangs where no thread writes the memory that it polls. One that a clock ends does not, whether the
// clock decides a branch, a register or a store.
func TestClocksInWaits(t *testing.T) {
	const wait = "mov.u64 %d1, %clock64; mov.u32 %r5, 0; again: ld.volatile.global.u32 %r2, [%q1]; setp.ne.u32 %a0, %r2, 0; @%a0 bra out; " +
		"mov.u64 %d2, %clock64; sub.u64 %d2, %d2, %d1; setp.lt.u64 %a1, %d2, 3000000; "
	for _, c := range []struct {
		name, rest string
		hangs      bool
	}{
		{"sleep", "@%a1 bra short; setp.lt.u64 %a2, %d2, 3500000; @%a2 bra middle; mov.u32 %r3, 800; nanosleep.u32 %r3; bra again; middle: shr.u64 %d3, %d2, 2; cvt.u32.u64 %r4, %d3; nanosleep.u32 %r4; bra again; short: nanosleep.u32 10; bra again; out:", true},
		{"leave", "@%a1 bra again; out:", false},
		{"set what decides", "@%a1 bra same; mov.u32 %r5, 1; same: setp.eq.u32 %a2, %r5, 0; @%a2 bra again; out:", false},
		{"choose what decides", "selp.u32 %r5, 0, 1, %a1; setp.eq.u32 %a2, %r5, 0; @%a2 bra again; out:", false},
		{"store", "@%a1 bra again; st.volatile.global.u32 [%q1], 1; bra again; out:", false},
		{"count in time", "@%a1 bra again; add.u32 %r5, %r5, 1; setp.lt.u32 %a2, %r5, 1000; @%a2 bra again; out:", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && !c.hangs && c.name != "store" {
				t.Skip("each way takes 7 s with the race detector, and their blocks share no more than those of another")
			}
			j := newJob(t, "", wait+c.rest, 2, 40)
			if err := j.device.Launch(j.launch); errors.Is(err, gpu.ErrHang) != c.hangs || !c.hangs && err != nil {
				t.Errorf("%v, expected a hang: %v", err, c.hangs)
			}
		})
	}
}

// TestWaitForClock: a loop that only waits for the clock ends after few instructions. The clock
// passes no faster for one that works between two reads, however often it reads: a poll with a
// limit of time, the time of a load, of a barrier, of a multiplication.
func TestWaitForClock(t *testing.T) {
	const loop = "mov.u64 %%d1, %%clock64; again: %s mov.u64 %%d2, %%clock64; sub.u64 %%d2, %%d2, %%d1; setp.lt.u64 %%a0, %%d2, 2000000000; @%%a0 bra again;"
	for work, ends := range map[string]bool{
		"":                     true,
		"add.u32 %r1, %r1, 3;": true,
		strings.Repeat("add.u32 %r1, %r1, 3;", 64):       false,
		"ld.volatile.global.u32 %r1, [%q0];":             false,
		"bar.sync 0;":                                    false,
		"mov.u64 %d3, %clock64; mul.lo.u32 %r1, %r1, 3;": false,
	} {
		j := newJob(t, "", fmt.Sprintf(loop, work), 1, 32)
		j.device.LimitSteps(1_000_000)
		if err := j.device.Launch(j.launch); (err == nil) != ends || err != nil && !errors.Is(err, gpu.ErrStepLimit) {
			t.Errorf("%.80s: %v, expected an end: %v", work, err, ends)
		}
	}
}

// TestLoopWithoutReads: a loop that reads no memory names the plain variable as the cause, one
// that does read does not.
func TestLoopWithoutReads(t *testing.T) {
	for body, says := range map[string]bool{
		"ld.global.u32 %r2, [%q1]; setp.eq.u32 %a0, %r2, 0; again: @%a0 bra again;":          true,
		"again: ld.volatile.global.u32 %r2, [%q1]; setp.eq.u32 %a0, %r2, 0; @%a0 bra again;": false,
		"again: ld.global.u32 %r2, [%q1]; setp.eq.u32 %a0, %r2, 0; @%a0 bra again;":          false,
	} {
		j := newJob(t, "", body, 1, 64)
		err := j.device.Launch(j.launch)
		if !errors.Is(err, gpu.ErrHang) || strings.Contains(fmt.Sprint(err), "this loop reads no memory") != says {
			t.Errorf("%s: %v, expected a hang that names the variable: %v", body, err, says)
		}
	}
}
