package engine

import "warpbook/gpu"

// This file looks for races on the shared memory of other blocks of a cluster. Blocks are
// ordered by the barrier of the cluster, and by arrivals at mbarriers of other blocks,
// which order everything that a block has done before: that finds fewer races and accuses
// no correct kernel.

// visit looks for races of an access to the shared memory of another block, and notes it;
// it reports whether there was none.
func (search) visit(w *warp, in *instr, to *block, m uint32) bool {
	r := to.races
	if to.live == 0 {
		w.fail(in, lowest(m), gpu.ErrRace, "block %d of the cluster, whose shared memory it accesses, has exited: put a barrier of the cluster before the end of the kernel", to.rank())
		return false
	}
	if r == nil {
		return true
	}
	if to.visits.words == nil {
		to.visits.words, to.visits.last = map[uint64]visit{}, map[*block]visit{}
	}
	writes := in.mem.kind != load
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		v := visit{in, w, l, writes}
		to.visits.last[w.block] = v
		at := w.addr[l]
		if at+in.mem.size > uint64(len(to.shared.Data)) || in.mem.kind == update || in.mem.strong {
			continue
		}
		for word := at >> 2; word<<2 < at+in.mem.size; word++ {
			first := r.Written(word << 2)
			if first != nil && (first.Epoch < to.visits.since || to.prog.code[first.PC()].mem.strong) {
				first = nil
			}
			for _, read := range r.Read(word << 2) {
				if first == nil && writes && read != nil && read.Epoch >= to.visits.since {
					first = read
				}
			}
			if first != nil {
				visitRace(w, in, l, to, word<<2, &to.prog.code[first.PC()], to.warps[first.Warp()], first.Lane())
				return false
			}
			if old, ok := to.visits.words[word]; ok && old.warp.block != w.block && (old.writes || writes) {
				visitRace(w, in, l, to, word<<2, old.in, old.warp, old.lane)
				return false
			} else if !ok || writes {
				to.visits.words[word] = v
			}
		}
	}
	return true
}

// visited looks for races of own accesses with those of other blocks; it reports whether
// there was none.
func (search) visited(w *warp, in *instr, m uint32) bool {
	b := w.block
	if len(b.visits.words) == 0 || in.mem.kind == update || in.mem.strong {
		return true
	}
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		for word := w.addr[l] >> 2; word<<2 < w.addr[l]+in.mem.size; word++ {
			if old, ok := b.visits.words[word]; ok && (old.writes || in.mem.kind != load) {
				visitRace(w, in, l, b, word<<2, old.in, old.warp, old.lane)
				return false
			}
		}
	}
	return true
}

// visitRace is the fault of two blocks that access a word of shared memory.
func visitRace(w *warp, in *instr, l int, of *block, at uint64, first *instr, by *warp, lane int) {
	b := w.block
	did := "wrote"
	if first.mem.kind == load {
		did = "read"
	}
	w.fail(in, l, gpu.ErrRace, "block %d of the cluster %s %s of block %d with %s at %s, and no barrier of the cluster stands between: put cluster.sync() there",
		by.block.rank(), did, b.launch.sharedPlace(at), of.rank(), first.src.Name(), b.prog.placeOf(first))
	b.raceWith(first, by, lane)
}

// signals orders what a block has done before what the block does whose mbarrier it arrives at.
func signals(w *warp, to *block) {
	if to == w.block || w.block.races == nil {
		return
	}
	w.block.visits.since = w.block.races.Tick()
	delete(to.visits.last, w.block)
	for word, v := range to.visits.words {
		if v.warp.block == w.block {
			delete(to.visits.words, word)
		}
	}
}

// leavesVisitors is a fault if a block ends while others may still access its shared memory:
// no barrier of the cluster came after their last access.
func leavesVisitors(b *block) {
	if b.fault != nil || len(b.visits.last) == 0 {
		return
	}
	for _, other := range b.cluster.blocks {
		v, ok := b.visits.last[other]
		if !ok {
			continue
		}
		v.warp.fail(v.in, v.lane, gpu.ErrRace, "block %d of the cluster, whose shared memory it accesses, may have exited: put a barrier of the cluster before the end of the kernel", b.rank())
		b.fault = v.warp.block.fault
		return
	}
}
