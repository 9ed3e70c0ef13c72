package emu

import (
	"errors"
	"slices"
	"testing"

	"warpbook/gpu"
)

// TestBlockOrder: with one worker the blocks draw tickets in the order in which the
// device starts them.
func TestBlockOrder(t *testing.T) {
	for order, want := range map[BlockOrder][]uint32{
		InOrder:    {0, 1, 2, 3, 4, 5, 6},
		Backwards:  {6, 5, 4, 3, 2, 1, 0},
		FromMiddle: {3, 2, 1, 0, 6, 5, 4}, // of blocks 0 to 6; each order is its own inverse
	} {
		j := newJob(t, "", `
	atom.global.add.u32 %r2, [%q1+28], 1;
	mul.wide.u32 %d1, %r0, 4;
	add.u64 %d1, %d1, %q1;
	st.global.u32 [%d1], %r2;
`, 8, 1)
		j.launch.Grid.X = 7
		j.device.LimitWorkers(1)
		j.device.OrderBlocks(order)
		if got := j.run()[:7]; !slices.Equal(got, want) {
			t.Errorf("order %d: block b drew %v, expected %v", order, got, want)
		}
	}
}

// TestOrderMatters: blocks that wait for lower ones end in order, and hang if the later
// ones occupy all places first. With a drawn ticket instead of the block's number they
// end in every order.
func TestOrderMatters(t *testing.T) {
	const sms = 12 // waits take the square of them
	const blocks = 3*sms + 1
	chain := func(tile string) string {
		return tile + `
	mul.wide.u32 %d1, %r2, 4;
	add.u64 %d1, %d1, %q1;
	setp.eq.u32 %a1, %r2, 0;
	mov.u32 %r3, 0;
	@%a1 bra first;
wait:
	ld.volatile.global.u32 %r3, [%d1+-4];
	setp.eq.u32 %a2, %r3, 0;
	@%a2 bra wait;
first:
	add.u32 %r3, %r3, 1;
	st.volatile.global.u32 [%d1], %r3;
`
	}
	number, ticket := chain("mov.u32 %r2, %r0;"), chain("atom.global.add.u32 %r2, [%q0], 1;")
	for _, c := range []struct {
		body  string
		order BlockOrder
		hangs bool
	}{{number, InOrder, false}, {number, Backwards, true}, {number, FromMiddle, true},
		{ticket, InOrder, false}, {ticket, Backwards, false}, {ticket, FromMiddle, false}} {
		workers := []int{1, 3}
		if testing.Short() {
			workers = workers[1:] // one has no races
		}
		for _, workers := range workers {
			j := newJobFor(t, sms, "", c.body, blocks, 1)
			if err := j.p0.Upload(make([]uint32, blocks)); err != nil {
				t.Fatal(err)
			}
			j.launch.Shared = 120 << 10 // of 228 KiB of a multiprocessor: one block has room
			j.device.LimitWorkers(workers)
			j.device.LimitSteps(50_000_000) // on a busy machine a block may wait long
			j.device.OrderBlocks(c.order)
			err := j.device.Launch(j.launch)
			if c.hangs && !errors.Is(err, gpu.ErrHang) || !c.hangs && err != nil {
				t.Errorf("order %d, %d workers, hangs %v: %v", c.order, workers, c.hangs, err)
			}
		}
	}
}
