package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// A call ends with its context: before the launch, or in a kernel that runs; the calls after
// it are not interrupted.
func TestHandleWith(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := NewHandle(d)
		defer h.Close()
		h.Variant = "sum_blocks"
		const n = 1 << 24
		x, err := gpu.Upload(d, make([]float32, n))
		if err != nil {
			t.Fatal(err)
		}
		y, err := gpu.Upload(d, []float32{0})
		if err != nil {
			t.Fatal(err)
		}
		few, err := x.View(0, 100)
		if err != nil {
			t.Fatal(err)
		}
		run := func(ctx context.Context, x gpu.Buffer) error {
			return ladder.Call(h.With(ctx), sample.Operator, ladder.Size{x.Len()}, map[string]gpu.Buffer{"x": x, "y": y})
		}
		over, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("the reason"))
		if err := run(over, x); !errors.Is(err, gpu.ErrInterrupted) || err.Error() != "ops: sample: interrupted before the launch: the reason" {
			t.Errorf("%v, expected that it ended before the launch", err)
		}
		short, cancelShort := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancelShort()
		if err := run(short, x); d.Info().Emulated && (!errors.Is(err, gpu.ErrInterrupted) || !errors.Is(err, context.DeadlineExceeded)) {
			t.Errorf("%v, expected that it was interrupted", err)
		}
		if err := run(t.Context(), few); err != nil {
			t.Errorf("%v after an interrupted call", err)
		}
	})
}
