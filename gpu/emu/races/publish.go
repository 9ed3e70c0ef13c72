package races

// fence notes that a block has fenced.
func (g *Global) fence(block int32) {
	g.now++
	g.fenced[block] = g.now
}

// synchronise handles an atomic or volatile access of a block: the block publishes and
// learns.
func (g *Global) synchronise(block int32, address uint64, writes bool) {
	p := g.published[address]
	if fence := g.fenced[block]; writes && fence != 0 && (p == nil || p.knowledge[block] < fence) {
		if p == nil {
			p = &published{knowledge: knowledge{}, learned: map[int32]uint32{}}
			g.published[address] = p
		}
		p.learn(g.knows[block])
		p.knowledge[block] = fence
		p.version++
	}
	if p == nil || p.learned[block] == p.version {
		return
	}
	p.learned[block] = p.version
	k := g.knows[block]
	if k == nil {
		k = knowledge{}
		g.knows[block] = k
	}
	k.learn(p.knowledge)
}

func (k knowledge) learn(from knowledge) {
	for block, time := range from {
		k[block] = max(k[block], time)
	}
}

// Meet orders earlier accesses of some blocks before their later ones.
func (g *Global) Meet(blocks []int32) {
	g.now++
	for _, b := range blocks {
		k := g.knows[b]
		if k == nil {
			k = knowledge{}
			g.knows[b] = k
		}
		for _, other := range blocks {
			k.learn(g.knows[other])
			k[other] = g.now
		}
	}
}

// unordered reports whether an access by another block is unordered with the current
// accesses of a block.
func (g *Global) unordered(block, other int32, time uint32) bool {
	return g.knows[block][other] <= time
}

// Signalled reports whether the block of an event has signalled without a fence after it, and
// another block has counted or polled at the same place; pc is the instruction.
func (g *Global) Signalled(e *Event, block int32) (pc uint32, ok bool) {
	by, to := g.signals[e.Block], g.signals[block]
	return by.pc, by.wrote && g.fenced[e.Block] <= e.time && (to.address == by.address || to.read == by.address)
}

// strongAccess handles an atomic or volatile access: its block and its warp publish what
// they have done, and learn what others have.
func (g *Global) strongAccess(p *Party, a *Access, address uint64) {
	if a.Releases {
		g.Fence(p, a.Wide)
	}
	if g.Between {
		g.synchronise(p.At, address, !a.Reads)
		s := g.signals[p.At]
		if s.read = address; !a.Reads {
			s.address, s.pc, s.wrote = address, uint32(a.PC), true
		}
		g.signals[p.At] = s
	}
	if g.compared && !a.Reads && p.released != 0 {
		g.flags[address] = uint32(a.PC)
	}
	p.Synchronise(address, !a.Reads)
}

// Fence notes a fence of a warp; a wide one is of the GPU.
func (g *Global) Fence(p *Party, wide bool) {
	if wide && g.Between {
		g.fence(p.At)
	}
	p.released = p.Tick()
}

// Synchronise handles an atomic or volatile access to memory of the block or the GPU: the
// warp publishes what it has done to those of its block, and learns what they have.
func (p *Party) Synchronise(address uint64, writes bool) {
	known := p.published[address]
	if known != nil {
		p.Warps.Learn(p.Warp, known)
	}
	if !writes || p.released == 0 {
		return
	}
	if known == nil {
		known = new([32]uint32)
		p.published[address] = known
	}
	p.Warps.teach(p.Warp, known)
	known[p.Warp] = max(known[p.Warp], p.released)
	p.Lanes[p.Warp].MeetAll()
}
