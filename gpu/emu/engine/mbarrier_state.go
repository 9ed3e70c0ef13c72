package engine

import (
	"warpbook/gpu/emu/copyengine"
	"warpbook/gpu/ptx"
)

// fillingBulk is a pending bulk copy to bytes of shared memory, or nil.
func (b *block) fillingBulk(offset, size uint64) *copyengine.Fill {
	for _, m := range b.mbarriers {
		for i := range m.bulk {
			if c := &m.bulk[i]; c.Overlaps(offset, size) {
				return c
			}
		}
	}
	return nil
}

// issuer is the warp that has started a copy into the shared memory of the block.
func (b *block) issuer(c *copyengine.Fill) *warp {
	if b.cluster != nil {
		b = b.cluster.blocks[c.Rank]
	}
	return b.warps[c.Warp]
}

// filling is the instruction of a cp.async to bytes of shared memory that is pending, or nil.
func (b *block) filling(p place, offset, size uint64) *instr {
	if p.space != ptx.Shared {
		return nil
	}
	for _, w := range b.warps {
		if c := w.copies.Filling(offset, size); c != nil {
			return &b.prog.code[c.PC]
		}
	}
	return nil
}

// mbarrier is the state of an mbarrier besides its word.
type mbarrier struct {
	arrivals []arrival // of this phase, for the search for races
	before   []arrival // of the previous phase
	copies   []copyArrival
	tx       int64             // bytes that this phase waits for
	bulk     []copyengine.Fill // copies that it will count

	init     *instr // the instruction that initialised it, until a fence shows it to the copy engine
	initWarp *warp
	initLane int
	initTime uint64
}

// copyArrival is a cp.async.mbarrier.arrive: lanes whose copies will arrive.
type copyArrival struct {
	warp  *warp
	mask  uint32
	until uint64 // copies that the warp had started
}

func (b *block) mbarrier(at uint64) *mbarrier {
	if b.mbarriers == nil {
		b.mbarriers = map[uint64]*mbarrier{}
	}
	if b.mbarriers[at] == nil {
		b.mbarriers[at] = &mbarrier{}
	}
	return b.mbarriers[at]
}
