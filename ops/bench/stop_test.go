package bench

import (
	"errors"
	"sync/atomic"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// interrupted is a device that is interrupted after so many looks.
type interrupted struct {
	gpu.Device
	left *atomic.Int64
}

func (d interrupted) Interrupts() uint64 {
	if d.left.Add(-1) < 0 {
		return 1
	}
	return 0
}

// TestInterruptOnTheHost: wherever a bench looks whether its device has been
// interrupted, the call ends with that error, and the next call is as if there
// had been none.
func TestInterruptOnTheHost(t *testing.T) {
	emulator := device.MustOpen("emu")
	t.Cleanup(func() { emulator.Close() })
	for _, c := range []struct {
		operator *ladder.Operator
		size     ladder.Size
		variants []string
	}{
		{sample.Operator, ladder.Size{3 * ladder.Piece}, []string{"sum_host", "sum_static"}},
		{sample.BFloat16, ladder.Size{100}, []string{"sum_bfloat16"}},
	} {
		d := interrupted{emulator, &atomic.Int64{}}
		never := func() { d.left.Store(1 << 40) }
		never()
		random := ladder.NewRandom(2)
		b := newBench(t, d, c.operator, 1, c.size...)
		for name, call := range map[string]func() error{
			"new": func() error {
				b, err := New(d, c.operator, 1, c.size...)
				if err == nil {
					err = b.Close()
				}
				return err
			},
			"check": func() error { _, err := b.Check(c.variants...); return err },
			"set input": func() error {
				input := c.operator.Inputs(c.size)[0]
				return b.SetInput(input.Name, ladder.Uniform(nil, input.Len, random))
			},
		} {
			if name == "new" && c.operator != sample.Operator {
				continue // which takes as long as its PTX is
			}
			looks := int64(1) // the first is what the others are compared with
			for ; ; looks++ {
				d.left.Store(looks)
				err := call()
				never()
				if err == nil {
					break
				}
				if !errors.Is(err, gpu.ErrInterrupted) {
					t.Fatalf("%s: %s: look %d: %v", c.operator.Name, name, looks, err)
				}
				if checks, err := b.Check(c.variants...); err != nil || !checks.Passed() {
					t.Fatalf("%s: %s: after an interrupt at look %d: %v, %v", c.operator.Name, name, looks, checks, err)
				}
			}
			if t.Logf("%s: %s looks %d times", c.operator.Name, name, looks); looks < 4 {
				t.Errorf("%s: %s looks %d times, expected more", c.operator.Name, name, looks)
			}
		}
	}
}
