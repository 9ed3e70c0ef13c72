package gpu

// Counters count one launch. Those of memory equal NVIDIA's profiler for the
// same PTX (the metric stands beside each); instructions, branches and lane
// efficiency are PTX-level, because the assembler turns short branches into
// predication and merges instructions.
type Counters struct {
	WarpInstructions   uint64 // PTX instructions issued, one per warp
	ThreadInstructions uint64 // PTX instructions times active lanes
	Branches           uint64 // conditional and unconditional branches, one per warp
	DivergentBranches  uint64 // taken by some, not all, active lanes
	Barriers           uint64 // bar.sync and barrier, one per warp
	WarpSyncs          uint64 // bar.warp.sync, one per warp
	Shuffles           uint64 // shfl, one per warp
	AsyncCopies        uint64 // cp.async, one per warp: loads from global memory below, too
	MatrixLoads        uint64 // ldmatrix, one per warp: loads from shared memory below, too

	// Dropped are accesses of lanes to no memory, of a launch without
	// CheckBounds or CheckFreed. They are in the counts below too.
	Dropped uint64

	GlobalLoad   GlobalAccess
	GlobalStore  GlobalAccess
	GlobalAtomic GlobalAccess // atom and red
	LocalLoad    GlobalAccess
	LocalStore   GlobalAccess
	SharedLoad   SharedAccess
	SharedStore  SharedAccess
	SharedAtomic SharedAccess
}

// GlobalAccess counts the accesses of one kind to global or local memory. A
// request is a warp's memory instruction with at least one active lane:
// l1tex__t_requests_pipe_lsu_mem_global_op_ld and its siblings.
type GlobalAccess struct {
	Requests uint64
	Sectors  uint64 // distinct 32-byte sectors a request: l1tex__t_sectors_...
	Lines    uint64 // distinct 128-byte lines a request
	Bytes    uint64 // asked for by all active lanes
}

// SharedAccess counts the accesses of one kind to shared memory.
type SharedAccess struct {
	Requests   uint64
	Wavefronts uint64 // passes over the 32 banks: l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
	Conflicts  uint64 // wavefronts beyond one a group: l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld
	Bytes      uint64
}

// LaneEfficiency is the share of lanes that were active, over all PTX
// instructions; 0 for a launch that ran none.
func (c Counters) LaneEfficiency() float64 {
	if c.WarpInstructions == 0 {
		return 0
	}
	return float64(c.ThreadInstructions) / (32 * float64(c.WarpInstructions))
}

// Shared are the loads and stores of shared memory together.
func (c Counters) Shared() SharedAccess {
	sum := c.SharedLoad
	sum.Add(c.SharedStore)
	return sum
}

// Global are the loads and stores of global memory together, without atomics.
func (c Counters) Global() GlobalAccess {
	sum := c.GlobalLoad
	sum.Add(c.GlobalStore)
	return sum
}

// Add adds the counts of another launch.
func (c *Counters) Add(o Counters) {
	c.WarpInstructions += o.WarpInstructions
	c.ThreadInstructions += o.ThreadInstructions
	c.Branches += o.Branches
	c.DivergentBranches += o.DivergentBranches
	c.Barriers += o.Barriers
	c.WarpSyncs += o.WarpSyncs
	c.Shuffles += o.Shuffles
	c.AsyncCopies += o.AsyncCopies
	c.MatrixLoads += o.MatrixLoads
	c.Dropped += o.Dropped
	c.GlobalLoad.Add(o.GlobalLoad)
	c.GlobalStore.Add(o.GlobalStore)
	c.GlobalAtomic.Add(o.GlobalAtomic)
	c.LocalLoad.Add(o.LocalLoad)
	c.LocalStore.Add(o.LocalStore)
	c.SharedLoad.Add(o.SharedLoad)
	c.SharedStore.Add(o.SharedStore)
	c.SharedAtomic.Add(o.SharedAtomic)
}

// Add adds the counts of other accesses.
func (a *GlobalAccess) Add(o GlobalAccess) {
	a.Requests += o.Requests
	a.Sectors += o.Sectors
	a.Lines += o.Lines
	a.Bytes += o.Bytes
}

// Add adds the counts of other accesses.
func (a *SharedAccess) Add(o SharedAccess) {
	a.Requests += o.Requests
	a.Wavefronts += o.Wavefronts
	a.Conflicts += o.Conflicts
	a.Bytes += o.Bytes
}
