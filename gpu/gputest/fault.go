package gputest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// works checks that a device, this one or a fresh one, runs a launch.
func (s *suite) works() {
	s.Helper()
	x, err := s.device.Alloc(gpu.Float32, 100)
	if errors.Is(err, gpu.ErrClosed) {
		s.start()
		x, err = s.device.Alloc(gpu.Float32, 100)
	}
	s.ok(err)
	in := s.floats(100)
	s.ok(x.Upload(in))
	s.ok(s.run(s.scale(x, x, 2, 100)))
	out := make([]float32, 100)
	s.ok(x.Download(out))
	for i := range in {
		in[i] *= 2
	}
	if !slices.Equal(in, out) {
		s.Errorf("wrong results after a fault (seed %d)", seed)
	}
}

func testOutOfBounds(t *testing.T, s *suite) {
	x := s.alloc(gpu.Float32, 100, s.floats(100)).Label("input")
	// A GPU finds only an access that is far outside.
	err := s.run(s.scale(x, x, 2, 1<<30))
	s.is(err, gpu.ErrOutOfBounds, "a load past the end of a buffer")
	var f *gpu.Fault
	if !errors.As(err, &f) {
		t.Fatalf("%v, expected a *gpu.Fault", err)
	}
	if f.Entry != "scale" {
		t.Errorf("the fault is of entry %q, expected scale", f.Entry)
	}
	if s.device.Info().Emulated && !strings.Contains(err.Error(), "buffer input (400 bytes)") {
		t.Errorf("%v, expected it to name the buffer", err)
	}
	s.works()
}

func testTrap(t *testing.T, s *suite) {
	err := s.run(gpu.Launch{Entry: s.entry("traps"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}})
	s.is(err, gpu.ErrTrap, "a trap")
	s.works()
}

func testInterrupt(t *testing.T, s *suite) {
	y := s.alloc(gpu.Uint32, 1, []uint32{0})
	done := make(chan error, 1)
	go func() {
		done <- s.run(gpu.Launch{Entry: s.entry("endless"), Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 64}, Args: []any{y}})
	}()
	select {
	case err := <-done:
		t.Fatalf("an endless launch ended with %v", err)
	case <-time.After(patience):
	}
	start := time.Now()
	s.device.Interrupt()
	s.is(s.ended(done), gpu.ErrInterrupted, "an interrupted launch")
	t.Logf("interrupted within %v", time.Since(start))
	s.works()
	before := s.device.Interrupts()
	s.device.Interrupt() // with nothing running
	if now := s.device.Interrupts(); now != before+1 {
		t.Errorf("%d interrupts, %d after one more", before, now)
	}
	s.works()
}

// ended waits for a launch that was interrupted, and interrupts it again if the
// interrupt came before the launch: then it has ended nothing.
func (s *suite) ended(done <-chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Second):
			s.device.Interrupt()
		}
	}
}

func testClose(t *testing.T, s *suite) {
	x := s.alloc(gpu.Float32, 4, s.floats(4))
	l := s.scale(x, x, 1, 4)
	s.ok(s.device.Close())
	s.is(s.device.Launch(l), gpu.ErrClosed, "launch on a closed device")
	_, err := s.device.Alloc(gpu.Float32, 1)
	s.is(err, gpu.ErrClosed, "alloc on a closed device")
	_, err = s.device.Load("gputest.ptx", source)
	s.is(err, gpu.ErrClosed, "load on a closed device")
	s.is(x.Download(make([]float32, 4)), gpu.ErrClosed, "download from a closed device")
	s.is(s.device.Close(), gpu.ErrClosed, "second close")
}
