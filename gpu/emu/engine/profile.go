package engine

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// counting is the tracer of the blocks that one worker runs: it counts by instruction.
type counting struct {
	// runs are straight runs: the counts of an instruction are the sum of those up to
	// it.
	runs      []run
	divergent []uint64 // branches, by instruction
	branches  []map[branchKey]*gpu.Branch
	sites     []*site // memory instructions, by instruction; nil for the others
}

// run is the number of runs that start at an instruction, minus those that ended before
// it.
type run struct{ warps, threads int64 }

// site is a memory instruction.
type site struct {
	counts   gpu.Counters // counts of its requests only
	requests map[requestKey]*gpu.Request
	others   uint64
}

// requestKey identifies equal requests.
type requestKey struct {
	shared  bool
	mask    uint32
	address [32]uint64 // of active lanes; for global memory relative to the line of the lowest one
}

// branchKey identifies equal divergent branches.
type branchKey struct{ taken, active uint32 }

func newCounting(p *Program) *counting {
	n := len(p.code) + 1
	return &counting{runs: make([]run, n), divergent: make([]uint64, n), branches: make([]map[branchKey]*gpu.Branch, n), sites: make([]*site, n)}
}

// ran notes that a warp ran the instructions of a straight run.
func (t *counting) ran(from, to int32, mask uint32) {
	threads := int64(bits.OnesCount32(mask))
	t.runs[from].warps++
	t.runs[from].threads += threads
	t.runs[to].warps--
	t.runs[to].threads -= threads
}

// diverged counts a branch that some active lanes take and others do not.
func (t *counting) diverged(w *warp, pc int32, taken, active uint32) {
	t.divergent[pc]++
	t.addBranch(pc, branchKey{taken, active}, &gpu.Branch{Taken: taken, Active: active, Count: 1, Block: w.block.at, Warp: w.index})
}

// addBranch adds a pattern; of equal ones the first block is kept.
func (t *counting) addBranch(pc int32, key branchKey, b *gpu.Branch) {
	known := t.branches[pc][key]
	switch {
	case known != nil && compareBlocks(b.Block, known.Block) < 0:
		b.Count += known.Count
		t.branches[pc][key] = b
	case known != nil:
		known.Count += b.Count
	case t.branches[pc] == nil:
		t.branches[pc] = map[branchKey]*gpu.Branch{key: b}
	case len(t.branches[pc]) < gpu.MostPatterns:
		t.branches[pc][key] = b
	}
}

// request counts a request to memory.
func (t *counting) request(w *warp, in *instr, space ptx.Space, p *gpu.Pattern) {
	s := t.sites[in.mem.pc]
	if s == nil {
		s = &site{requests: map[requestKey]*gpu.Request{}}
		t.sites[in.mem.pc] = s
	}
	countRequest(&s.counts, in.mem.kind, space, p)
	if space != ptx.Shared && space != ptx.Global {
		return
	}
	key := requestKey{shared: space == ptx.Shared, mask: p.Mask}
	from := uint64(0)
	if !key.shared {
		from = p.Address[lowest(p.Mask)&31] &^ 127
	}
	for m := p.Mask; m != 0; m &= m - 1 {
		l := lowest(m) & 31
		key.address[l] = p.Address[l] - from
	}
	if r := s.requests[key]; r != nil {
		r.Count++
	} else if len(s.requests) < gpu.MostPatterns {
		s.requests[key] = newRequest(w, in, key, p)
	} else {
		s.others++
	}
}

// newRequest describes the first request of a pattern.
func newRequest(w *warp, in *instr, key requestKey, p *gpu.Pattern) *gpu.Request {
	r := &gpu.Request{Pattern: *p, Count: 1, Shared: key.shared, Block: w.block.at, Warp: w.index}
	if p.To != nil {
		to := *p.To // of a copy, because another pattern may take its place
		r.To = &to
	}
	first := p.Address[lowest(p.Mask)&31]
	if key.shared {
		if v := w.block.prog.sharedAt(first); v != nil {
			r.Memory, r.Start = v.name, v.at
		}
		return r
	}
	for l := range r.Address {
		r.Address[l] &= mem.OffsetMask
	}
	table := w.block.launch.engine.memory.Allocations()
	if id := first >> mem.WindowBits; id < uint64(len(table)) && table[id] != nil {
		r.Memory = table[id].Name()
	}
	return r
}

// add adds the counts of another worker.
func (t *counting) add(o *counting) {
	for i := range t.runs {
		t.runs[i].warps += o.runs[i].warps
		t.runs[i].threads += o.runs[i].threads
		t.divergent[i] += o.divergent[i]
		for key, b := range o.branches[i] {
			t.addBranch(int32(i), key, b)
		}
		switch s, other := t.sites[i], o.sites[i]; {
		case s == nil:
			t.sites[i] = other
		case other != nil:
			s.add(other)
		}
	}
}

func (s *site) add(o *site) {
	s.counts.Add(o.counts)
	s.others += o.others
	for key, r := range o.requests {
		switch known := s.requests[key]; {
		case known != nil && compareBlocks(r.Block, known.Block) < 0:
			r.Count += known.Count
			s.requests[key] = r
		case known != nil:
			known.Count += r.Count
		case len(s.requests) < gpu.MostPatterns:
			s.requests[key] = r
		default:
			s.others += r.Count
		}
	}
}

// compareBlocks orders requests by their blocks, so that the result does not depend on
// which worker ran which block.
func compareBlocks(a, b gpu.Dim) int {
	return cmp.Or(cmp.Compare(a.Z, b.Z), cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X))
}

// profiled makes the launch store its profile.
func (l *Launch) profiled(to *gpu.Profile) {
	l.trace = func() tracer { return newCounting(l.prog) }
	l.traced = func(blocks []*block) {
		all := newCounting(l.prog)
		for _, b := range blocks {
			all.add(b.tracer.(*counting))
			b.tracer = nil
		}
		*to = all.profile(l.prog)
	}
}

// profile is the tracer's counts by instruction of the text.
func (t *counting) profile(p *Program) gpu.Profile {
	profile := gpu.Profile{Entry: p.name, File: p.file}
	var sum run
	for i := range p.code {
		in := &p.code[i]
		sum.warps += t.runs[i].warps
		sum.threads += t.runs[i].threads
		if sum.warps == 0 {
			continue
		}
		for _, o := range p.constantsAt[i] {
			profile.Instructions = append(profile.Instructions, gpu.InstructionProfile{Name: o.src.Name(), Line: o.src.Pos.Line, Source: p.source(o),
				Warps: uint64(sum.warps), Threads: uint64(sum.threads)})
		}
		n := uint64(p.before[i+1]-p.before[i]) - uint64(len(p.constantsAt[i])) // moves without cost count with the instruction after them
		if in.src == nil || n == 0 {
			continue
		}
		c := gpu.InstructionProfile{Name: in.src.Name(), Line: in.src.Pos.Line, Source: p.source(in),
			Warps: n * uint64(sum.warps), Threads: n * uint64(sum.threads), Divergent: t.divergent[i]}
		if s := t.sites[i]; s != nil {
			s.fill(&c)
		}
		for b := range maps.Values(t.branches[i]) {
			c.Branches = append(c.Branches, *b)
		}
		slices.SortFunc(c.Branches, func(a, b gpu.Branch) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), compareBlocks(a.Block, b.Block), cmp.Compare(a.Warp, b.Warp), cmp.Compare(a.Taken, b.Taken), cmp.Compare(a.Active, b.Active))
		})
		profile.Instructions = append(profile.Instructions, c)
	}
	slices.SortStableFunc(profile.Instructions, func(a, b gpu.InstructionProfile) int { return cmp.Compare(a.Line, b.Line) })
	return profile
}

func (s *site) fill(c *gpu.InstructionProfile) {
	for _, a := range []gpu.GlobalAccess{s.counts.GlobalLoad, s.counts.GlobalStore, s.counts.GlobalAtomic} {
		c.Global.Add(a)
	}
	for _, a := range []gpu.GlobalAccess{s.counts.LocalLoad, s.counts.LocalStore} {
		c.Local.Add(a)
	}
	for _, a := range []gpu.SharedAccess{s.counts.SharedLoad, s.counts.SharedStore, s.counts.SharedAtomic} {
		c.Shared.Add(a)
	}
	c.Others = s.others
	for r := range maps.Values(s.requests) {
		c.Requests = append(c.Requests, *r)
	}
	slices.SortFunc(c.Requests, func(a, b gpu.Request) int {
		return cmp.Or(cmp.Compare(b.Cost(), a.Cost()), compareBlocks(a.Block, b.Block), cmp.Compare(a.Warp, b.Warp),
			slices.Compare(a.Address[:], b.Address[:]), cmp.Compare(a.Mask, b.Mask))
	})
}
