package cuda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"warpbook/gpu"
)

// TestLargeSlice moves slices that pass the ring more than once, and end
// within a slot.
func TestLargeSlice(t *testing.T) {
	const seed, most = 3, 3*slots*slotBytes/4 - 7
	random, all := rand.New(rand.NewPCG(seed, 0)), make([]uint32, most)
	for i := range all {
		all[i] = random.Uint32()
	}
	both(t, func(b *bench) {
		for _, n := range []int{slotBytes / 4, slots * slotBytes / 4, slots*slotBytes/4 + 1, most} {
			x, err := b.device.Alloc(gpu.Uint32, n)
			b.ok(err)
			in, out := all[most-n:], make([]uint32, n)
			b.ok(x.Upload(in))
			b.ok(x.Download(out))
			if !slices.Equal(in, out) {
				b.Errorf("%d elements: others came back (seed %d)", n, seed)
			}
			b.ok(x.Free())
		}
	})
}

// TestOutlive checks that streams, events and modules that were made before a
// fault work after it, and that what they held is not taken for true.
func TestOutlive(t *testing.T) {
	both(t, func(b *bench) {
		s, err := b.device.NewStream()
		b.ok(err)
		start, err := b.device.NewEvent()
		b.ok(err)
		end, err := b.device.NewEvent()
		b.ok(err)
		variable, err := b.module.Global("counter")
		b.ok(err)
		b.ok(s.Record(start))
		b.ok(s.Sync())
		if err := b.run(b.launch("traps")); err == nil {
			b.Fatal("a trap is no error")
		}
		b.ok(s.Record(end))
		if _, err := end.Since(start); !errors.Is(err, gpu.ErrClosed) {
			b.Errorf("since an event of the last worker: %v, expected %q", err, gpu.ErrClosed)
		}
		if err := s.Wait(start); !errors.Is(err, gpu.ErrClosed) {
			b.Errorf("wait for an event of the last worker: %v, expected %q", err, gpu.ErrClosed)
		}
		if err := variable.Download(make([]uint8, 4)); !errors.Is(err, gpu.ErrClosed) {
			b.Errorf("a variable of the last worker: %v, expected %q", err, gpu.ErrClosed)
		}
		b.ok(s.Record(start))
		x := b.zeros(1)
		b.ok(s.Launch(b.launch("add", x)))
		b.ok(s.Record(end))
		b.ok(s.Sync())
		if d, err := end.Since(start); err != nil || d < 0 {
			b.Errorf("since: %v %v", d, err)
		}
		variable, err = b.module.Global("counter")
		b.ok(err)
		got := make([]uint8, 4)
		b.ok(variable.Download(got))
		if got[0] != 7 {
			b.Errorf("the variable is %v in a fresh worker, expected its first contents, 7", got)
		}
		for _, err := range []error{start.Close(), end.Close(), s.Close(), x.Free()} {
			b.ok(err)
		}
	})
}
