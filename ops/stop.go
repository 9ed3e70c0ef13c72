package ops

import (
	"fmt"

	"warpbook/gpu"
)

// Stop says whether what is being computed on the host is wanted no more. A long
// loop looks at it every few milliseconds, and returns what it has; whoever called
// it looks, too, and takes none of that. Nil never stops.
type Stop func() bool

func (stop Stop) now() bool { return stop != nil && stop() }

// piece is how many elements a loop works on between two looks.
const piece = 1 << 18

// pieces calls f for one part of n elements after the other.
func (stop Stop) pieces(n int, f func(from, to int)) {
	for from := 0; from < n && !stop.now(); from += piece {
		f(from, min(from+piece, n))
	}
}

// begin has interrupts of the device from now on end what the bench computes on
// the host, as they end what the device runs.
func (b *Bench) begin() { b.interrupts = b.device.Interrupts() }

// stopped is the Stop of what the bench computes.
func (b *Bench) stopped() bool { return b.device.Interrupts() != b.interrupts }

// interrupted is the error of what was stopped, nil if nothing was.
func (b *Bench) interrupted(what string) error {
	if !b.stopped() {
		return nil
	}
	return fmt.Errorf("ops: %s: %s: %w on the host", b.operator.Name, what, gpu.ErrInterrupted)
}
