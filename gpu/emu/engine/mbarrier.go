package engine

import (
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/ptx"
)

// This file is mbarrier: an object of 64 bits in shared memory that counts arrivals. The
// manual leaves its contents open. In the emulator they are, from the lowest bit, the
// number of missing arrivals, the number of arrivals per phase, and the phase.
const (
	mbarrierCount = 20 // bits of a count
	mbarrierMost  = 1<<mbarrierCount - 1
	mbarrierPhase = 2 * mbarrierCount
	mbarrierValid = 1 << 63 // set by init
)

// mbarrierOp is the effect of an instruction on the word of an mbarrier for one lane; it
// returns the new word. t is the block that the mbarrier belongs to: the warp's, or
// another one of its cluster. It reports its own faults.
type mbarrierOp func(w *warp, t *block, in *instr, l int, word uint64) uint64

// mbarrierForm lowers all instructions of mbarrier.
func mbarrierForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	op := w.take("init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "pending_count", "expect_tx", "complete_tx")
	more := w.take("noComplete", "parity")
	expect := op != "expect_tx" && w.has("expect_tx")
	w.take("release", "acquire", "relaxed")
	w.take("cta", "cluster")
	w.take("shared", "shared::cta", "shared::cluster")
	if t := w.last(); t != "b64" || len(w) > 0 || expect && op != "arrive" && op != "arrive_drop" {
		return lo.unsupported("no such form of mbarrier")
	}
	switch op {
	case "init":
		return lo.mbarrierInit()
	case "inval":
		return first(lo.operands(1, 1), lo.mbarrierAt(0, func(w *warp, t *block, in *instr, l int, word uint64) uint64 { return 0 }))
	case "arrive", "arrive_drop":
		return lo.mbarrierArrive(op == "arrive_drop", more == "noComplete", expect)
	case "expect_tx", "complete_tx":
		return lo.mbarrierBytes(op == "complete_tx")
	case "test_wait", "try_wait":
		return lo.mbarrierWait(more == "parity")
	case "pending_count":
		in := &lo.op.in
		in.kinds, in.exec = "wd", runLanes
		in.lane = func(_ *arith.Operation, a, _, _ uint64) uint64 { return a & mbarrierMost }
		return first(lo.operands(2, 2), lo.def(&in.d, 0, word), lo.use(&in.a, 1, "b64"))
	}
	return lo.unsupported("no such form of mbarrier")
}

// mbarrierAt makes the instruction apply an operation to the word at operand i of each
// lane, one after the other. Like atomics, these are no races.
func (lo *lowering) mbarrierAt(i int, op mbarrierOp) error {
	base, space, err := lo.addressPart(i)
	if err != nil {
		return err
	}
	if space != ptx.Shared && space != ptx.Generic {
		return lo.malformed("operand %d is not in shared memory", i+1)
	}
	in := &lo.op.in
	mem := &access{kind: update, space: ptx.Shared, bytes: 8, size: 8, count: 1, wideData: true}
	in.mem, in.flow = mem, checked
	in.exec = func(w *warp, in *instr, m uint32) {
		base(w, m)
		eachLane(m, func(l int) {
			if w.block.fault != nil {
				return
			}
			t, at := w.sharedOffset(w.addr[l])
			if t == nil {
				w.fail(in, l, gpu.ErrSpace, "shared address %#x is in no block of the cluster", w.addr[l])
				return
			}
			w.addr[l] = at
			c := t.shared
			if !w.inside(in, place{space: ptx.Shared, contents: c}, 1<<l) {
				return
			}
			p := t.mbarrierWord(at)
			if !c.Written.Has(int(at), 0xff) {
				*p = 0
			}
			if *p = op(w, t, in, l, *p); *p != 0 {
				c.Written.Set(int(at), 0xff)
			} else {
				c.Unwrite(int(at), 0xff)
			}
		})
	}
	return nil
}

func (lo *lowering) mbarrierInit() error {
	count := new(uint32)
	return first(lo.operands(2, 2), lo.use(count, 1, "b32"), lo.mbarrierAt(0, func(w *warp, t *block, in *instr, l int, _ uint64) uint64 {
		n := uint64(w.word(count, l))
		if n == 0 || n > mbarrierMost {
			w.fail(in, l, gpu.ErrBarrier, "an mbarrier of %d arrivals, expected 1 to %d", n, mbarrierMost)
		}
		delete(t.mbarriers, w.addr[l])
		w.initialised(t.mbarrier(w.addr[l]), in, l)
		return mbarrierValid | n<<mbarrierCount | n
	}))
}

// mbarrierBytes lowers mbarrier.expect_tx and complete_tx.
func (lo *lowering) mbarrierBytes(complete bool) error {
	count := new(uint32)
	return first(lo.target(90), lo.operands(2, 2), lo.use(count, 1, "b32"), lo.mbarrierAt(0, func(w *warp, t *block, in *instr, l int, word uint64) uint64 {
		if word&mbarrierValid == 0 {
			return w.noMbarrier(in, l, word)
		}
		m, n := t.mbarrier(w.addr[l]), int64(w.word(count, l))
		if complete {
			n = -n
		}
		m.tx += n
		return m.completed(word)
	}))
}

// word is a lane of a 32-bit slot that an operand was bound to.
func (w *warp) word(slot *uint32, l int) uint32 { return lanes[uint32](w, *slot)[l] }

func (lo *lowering) mbarrierArrive(drop, open, expect bool) error {
	in := &lo.op.in
	count, state := new(uint32), lo.operand(0).Kind != ptx.IgnoreOperand
	if err := lo.operands(2, 3); err != nil {
		return err
	}
	if state {
		if err := lo.def(&in.d, 0, double); err != nil {
			return err
		}
	}
	if len(in.src.Operands) == 3 {
		if err := lo.use(count, 2, "b32"); err != nil {
			return err
		}
	} else {
		lo.bind(count, value{kind: constantValue, bits: 1, width: word}, false)
	}
	return lo.mbarrierAt(1, func(w *warp, t *block, in *instr, l int, word uint64) uint64 {
		if word&mbarrierValid == 0 {
			return w.noMbarrier(in, l, word)
		}
		if state {
			lanes[uint64](w, in.d)[l] = word
		}
		n := uint64(w.word(count, l))
		if missing := word & mbarrierMost; open && n >= missing {
			w.fail(in, l, gpu.ErrBarrier, "%d arrivals of the %d that are missing complete the phase, which .noComplete must not", n, missing)
			return word
		}
		if expect {
			t.mbarrier(w.addr[l]).tx += int64(n)
			n = 1
		}
		if drop {
			word -= n << mbarrierCount
		}
		return w.arriveAt(t, in, l, word, n)
	})
}

// arriveAt makes lane l arrive n times at the mbarrier of t at w.addr.
func (w *warp) arriveAt(t *block, in *instr, l int, word, n uint64) uint64 {
	missing := word & mbarrierMost
	if n > missing {
		w.fail(in, l, gpu.ErrBarrier, "%d arrivals at an mbarrier that misses %d in this phase", n, missing)
		return word
	}
	m := t.mbarrier(w.addr[l])
	if t == w.block {
		m.arrive(w)
	}
	signals(w, t)
	return m.completed(word - n)
}

// arrive notes the arrival of a warp for the search for races.
func (m *mbarrier) arrive(w *warp) {
	if w.block.searches() {
		m.arrivals = append(m.arrivals, w.arrives())
	}
}

// completed starts another phase if no arrivals and no bytes are missing.
func (m *mbarrier) completed(word uint64) uint64 {
	if word&mbarrierMost != 0 || m.tx != 0 {
		return word
	}
	m.before, m.arrivals = m.arrivals, nil
	return word + 1<<mbarrierPhase | word>>mbarrierCount&mbarrierMost
}

// noMbarrier is the fault of a lane whose address holds no mbarrier.
func (w *warp) noMbarrier(in *instr, l int, word uint64) uint64 {
	w.fail(in, l, gpu.ErrUninitialized, "no mbarrier at %s: mbarrier.init comes first", w.block.launch.sharedPlace(w.addr[l]))
	return word
}

func (lo *lowering) mbarrierWait(parity bool) error {
	in := &lo.op.in
	if err := lo.operands(3, 4); err != nil {
		return err
	}
	typ := ptx.Type("b64")
	if parity {
		typ = "b32"
	}
	wanted := new(uint32)
	return first(lo.def(&in.d, 0, predicate), lo.use(wanted, 2, typ), lo.mbarrierAt(1, func(w *warp, t *block, in *instr, l int, word uint64) uint64 {
		if word&mbarrierValid == 0 {
			return w.noMbarrier(in, l, word)
		}
		ended := func() bool {
			phase := word >> mbarrierPhase
			if parity {
				return phase&1 != uint64(w.word(wanted, l)&1)
			}
			return phase != lanes[uint64](w, *wanted)[l]>>mbarrierPhase
		}
		// A wait for a phase that has ended, perhaps the wrong one, does not wait for copies.
		done := ended()
		if !done {
			before := word
			if word = t.bulkArrives(w.addr[l], w.copiesArrive(t, in, l, word)); word != before {
				w.block.changes++
			}
			done = ended()
		}
		w.setPred(in.d, 1<<l, done)
		w.waits++
		w.polled, w.polledAt = in, w.addr[l]
		if done {
			w.polled = nil
			w.learn(t.mbarrier(w.addr[l]))
		}
		return word
	}))
}

// learn orders the accesses of arrived threads before the later accesses of the warp.
func (w *warp) learn(m *mbarrier) {
	if !w.block.searches() {
		return
	}
	for _, a := range m.before {
		w.learns(a)
	}
	if slices.ContainsFunc(m.before, func(a arrival) bool { return a.warp == w.index }) {
		w.meet(w.alive)
	}
}

// copyArriveForm lowers cp.async.mbarrier.arrive: the mbarrier counts an arrival once
// all copies that the thread has started so far have completed.
func (lo *lowering) copyArriveForm(w words) error {
	more := !w.has("noinc")
	w.has("arrive")
	w.take("shared", "shared::cta")
	if t := w.last(); t != "b64" || len(w) > 0 {
		return lo.unsupported("no such form of cp.async")
	}
	return first(lo.operands(1, 1), lo.mbarrierAt(0, func(w *warp, t *block, in *instr, l int, word uint64) uint64 {
		if word&mbarrierValid == 0 {
			return w.noMbarrier(in, l, word)
		}
		m := t.mbarrier(w.addr[l])
		m.copies = append(m.copies, copyArrival{w, 1 << l, w.copies.Started()})
		if more {
			word++
		}
		return word
	}))
}

// copiesArrive completes the copies that an mbarrier waits for and counts their
// arrivals; it runs before any access to the mbarrier.
func (w *warp) copiesArrive(t *block, in *instr, l int, word uint64) uint64 {
	m := t.mbarrier(w.addr[l])
	at := w.addr
	for _, c := range m.copies {
		c.warp.complete(func(p *copyengine.Copy) uint32 {
			if p.Number < c.until {
				return c.mask
			}
			return 0
		})
		lane := lowest(c.mask)
		c.warp.addr[lane] = at[l]
		word = c.warp.arriveAt(t, in, lane, word, 1)
	}
	m.copies = nil
	w.addr = at
	return word
}
