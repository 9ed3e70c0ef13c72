package analysis

// Past is the way of a branch behind which no barrier of the block comes.
type Past struct {
	PC     int
	Others bool // the threads that do not take the branch go past; else those that take it
}

// Leaving finds the branches by which some threads of a block, but not all, may go past its
// barriers and do something else. acts marks the instructions from which on a thread may
// change memory that others see. differs are the places whose first values differ from thread
// to thread.
func (c Code) Leaving(differs []Place) (past []Past, acts []bool) {
	comes := c.reaches(func(in *Instruction) bool { return in.Barrier })
	acts = c.reaches(func(in *Instruction) bool { return in.Acts })
	var varies map[Place]bool
	for i := range c[:max(0, len(c)-1)] {
		in := &c[i]
		if in.Flow != Branch || comes[in.Target] == comes[i+1] {
			continue
		}
		way, to := Past{PC: i}, in.Target
		if comes[to] {
			way.Others, to = true, i+1
		}
		if !in.Guarded || !acts[to] {
			continue
		}
		if varies == nil {
			varies = c.varying(differs)
		}
		if varies[Place{Predicate: true, At: in.Guard}] {
			past = append(past, way)
		}
	}
	return past, acts
}

// varying are the places whose values may differ from thread to thread of a block.
func (c Code) varying(differs []Place) map[Place]bool {
	varies := map[Place]bool{}
	for _, p := range differs {
		varies[p] = true
	}
	for again := true; again; {
		again = false
		for i := range c {
			from := c[i].Differs
			for _, o := range c[i].Operands {
				from = from || !o.Def && varies[o.Place]
			}
			for _, o := range c[i].Operands {
				if from && o.Def && !varies[o.Place] {
					varies[o.Place], again = true, true
				}
			}
		}
	}
	return varies
}
