package copyengine

// Copy is a cp.async of some lanes for which not all of them have waited.
type Copy struct {
	Number uint64 // among the copies of the warp
	PC     int32  // of the instruction, which stores to shared memory
	Bytes  uint64 // of a lane
	Mask   uint32
	At     [32]uint64 // offsets in shared memory
	Data   [2][32]uint64
	group  [32]uint32 // of each lane: the number of groups it had committed before
}

// Async are the cp.async copies of a warp.
type Async struct {
	pending   []*Copy
	started   uint64
	committed [32]uint32 // groups of each lane
	spare     []*Copy
}

// Reset drops all copies: another block begins.
func (a *Async) Reset() {
	a.spare = append(a.spare, a.pending...)
	a.pending = a.pending[:0]
	a.committed = [32]uint32{}
}

// Start returns a record for a copy of some lanes; Pend makes it a pending one.
func (a *Async) Start(pc int32, mask uint32, bytes uint64) (c *Copy) {
	if n := len(a.spare); n > 0 {
		c, a.spare = a.spare[n-1], a.spare[:n-1]
	} else {
		c = &Copy{}
	}
	c.Number, c.PC, c.Mask, c.Bytes, c.group = a.started, pc, mask, bytes, a.committed
	a.started++
	return c
}

// Started is the number of copies that the warp has started.
func (a *Async) Started() uint64 { return a.started }

// Pend adds a copy to the pending ones.
func (a *Async) Pend(c *Copy) { a.pending = append(a.pending, c) }

// Commit ends a group of copies of some lanes.
func (a *Async) Commit(m uint32) {
	for l := range 32 {
		a.committed[l] += m >> l & 1
	}
}

// Before are the lanes of m for which a copy is not in the last n groups.
func (a *Async) Before(c *Copy, m uint32, n uint64) (due uint32) {
	for l := range 32 {
		if uint64(c.group[l])+n < uint64(a.committed[l]) {
			due |= m & (1 << l)
		}
	}
	return due
}

// Complete ends the pending copies whose wait was reached: due returns their lanes, and end
// gets them.
func (a *Async) Complete(due func(c *Copy) uint32, end func(c *Copy, lanes uint32)) {
	kept := a.pending[:0]
	for _, c := range a.pending {
		now := c.Mask & due(c)
		if now != 0 {
			end(c, now)
		}
		if c.Mask &^= now; c.Mask != 0 {
			kept = append(kept, c)
		} else {
			a.spare = append(a.spare, c)
		}
	}
	a.pending = kept
}

// Filling is a pending copy to bytes of shared memory, or nil.
func (a *Async) Filling(offset, size uint64) *Copy {
	for _, c := range a.pending {
		for l, at := range c.At {
			if c.Mask>>l&1 != 0 && at < offset+size && offset < at+c.Bytes {
				return c
			}
		}
	}
	return nil
}
