package emu

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// endless are loops of one block of 1024 threads, whose warps take their turns
// at full length. A counter that takes minutes to wrap round ends them, so that they do not
// repeat a state and hang.
var endless = map[string]string{
	"arithmetic": "again: mad.lo.u32 %r3, %r3, %t, 1; AGAIN",
	"slow arithmetic": `.reg .f64 %e<4>; cvt.rn.f64.u32 %e0, %t; mov.f64 %e1, %e0;
		again: div.rn.f64 %e1, %e1, %e0; rcp.rn.f64 %e2, %e1; sqrt.rn.f64 %e3, %e2; AGAIN`,
	"shared memory": "mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; again: st.shared.u32 [%r2], %t; ld.shared.u32 %r4, [%r2]; AGAIN",
	"conflicts":     "mov.u32 %r2, s; shl.b32 %r3, %t, 7; and.b32 %r3, %r3, 4095; add.u32 %r2, %r2, %r3; again: ld.volatile.shared.u32 %r4, [%r2]; AGAIN",
	"atomics":       "again: atom.global.add.u32 %r2, [%q1], 1; AGAIN",
	"barriers":      "again: bar.sync 0; AGAIN",
}

// TestInterruptIsSoon interrupts endless launches. The documented limit is 50 ms;
// because the machine may do other work, the test measures the processor's time and
// takes the best of several tries. The race detector, with which CI runs -short, makes
// the emulator 10 times as slow.
func TestInterruptIsSoon(t *testing.T) {
	const tries = 5
	promised := 50 * time.Millisecond
	if testing.Short() {
		promised *= 10
	}
	for name, body := range endless {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, ".shared .align 4 .b8 s[4096];", "mov.u32 %r3, 0; mov.u32 %r9, 0; mov.u32 %r5, s; mad.lo.u32 %r5, %t, 4, %r5; st.shared.u32 [%r5], 0; bar.sync 0;\n"+
				strings.Replace(body, "AGAIN", "add.u32 %r9, %r9, 1; setp.ne.u32 %a9, %r9, 0; @%a9 bra again;", 1), 1, 1024)
			j.launch.Checks = gpu.CheckUninitialized
			least := time.Hour
			for try := 0; try < tries && least > promised; try++ {
				done := make(chan error, 1)
				go func() { done <- j.device.Launch(j.launch) }()
				j.begun()
				time.Sleep(20 * time.Millisecond)
				start := processorTime()
				j.device.Interrupt()
				select {
				case err := <-done:
					if !errors.Is(err, gpu.ErrInterrupted) {
						t.Fatalf("%v, expected an interrupt", err)
					}
					least = min(least, processorTime()-start)
				case <-time.After(10 * time.Second): // it came before the launch, and ended no work
					j.device.Interrupt()
					<-done
				}
			}
			if t.Logf("ended within %v", least); least > promised {
				t.Errorf("%v after the interrupt, expected at most %v", least, promised)
			}
		})
	}
}

// begun waits until a launch holds the device.
func (j *job) begun() {
	for j.device.run.TryLock() {
		j.device.run.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// TestDeterministic adds floats of very different sizes to one atomically: with
// one worker the bits are the same every time.
func TestDeterministic(t *testing.T) {
	const seed = 17
	j := newJob(t, "", "ld.global.f32 %f1, [%p0]; red.global.add.f32 [%q1], %f1;", 200, 128)
	j.device.LimitWorkers(1)
	random := rand.New(rand.NewPCG(seed, 0))
	values := make([]uint32, j.p0.Len())
	for i := range values {
		values[i] = math.Float32bits(float32(math.Ldexp(random.Float64(), random.IntN(40))))
	}
	if err := j.p0.Upload(values); err != nil {
		t.Fatal(err)
	}
	var first uint32
	for run := range 5 {
		if err := j.device.Zero(j.p1); err != nil {
			t.Fatal(err)
		}
		if sum := j.run()[0]; run == 0 {
			first = sum
		} else if sum != first {
			t.Errorf("run %d gives %#08x, the first gave %#08x, seed %d", run, sum, first, seed)
		}
	}
}
