package gpu

// Checks is a set of checks of a launch. The device makes the checks in the set
// and no others: CheckDefault &^ CheckAlignment omits one.
//
// Whatever the set, no access leaves the memory of the device, and a launch
// that cannot end, because no thread can go on, is a fault.
type Checks uint16

const (
	// CheckUninitialized finds reads of memory and registers that were never
	// written. Without it they hold ones, or their earlier contents.
	CheckUninitialized Checks = 1 << iota

	// CheckRaces finds accesses to shared memory by two threads of a block, at
	// least one of them a write, that no barrier orders.
	CheckRaces

	// CheckNone, alone, checks nothing.
	CheckNone

	// CheckBounds finds accesses past the end or before the start of a buffer,
	// of shared or local memory, or of a variable in shared memory, and
	// addresses of no buffer or of another space. Without it a read outside of
	// all buffers gives zeros and a write is dropped, and Counters.Dropped counts
	// both; a GPU ends the launch or accesses the memory there. In shared memory
	// an access reaches the variable at its address, as on a GPU.
	CheckBounds

	// CheckAlignment finds addresses that are not a multiple of the access's size.
	// Without it the access is made byte by byte, where a GPU ends the launch; an
	// atomic is then not atomic.
	CheckAlignment

	// CheckFreed finds accesses to buffers that were freed. Without it they are
	// treated as accesses outside of all buffers are without CheckBounds.
	CheckFreed

	// CheckBarriers finds lanes of a warp that wait at different barrier
	// instructions, and barriers that complete without threads which have exited
	// (other than whole warps and those that a bounds check ended, if they did nothing
	// else meanwhile). It also finds
	// thread counts at which a GPU ends the launch: counts that are not a multiple
	// of 32, that differ among the waiting threads, or that are exceeded. Without
	// it a barrier completes once as many threads have arrived as the last one
	// to arrive names, wherever they wait.
	CheckBarriers

	// CheckMasks finds lanes that run an operation such as shfl.sync and are not
	// in their own mask, and uses of a value that a shuffle read from a lane that
	// did not take part. A mask that names lanes which were elsewhere and exited
	// without coming is a warning. Without it the lanes take part, and such a value is all
	// ones.
	CheckMasks

	// CheckBlockRaces finds accesses to global memory by two threads of a launch, of
	// one block or of two, at least one of them a write and at least one neither atomic
	// nor volatile, that no barrier, grid.sync() or fence followed by an atomic orders.
	// Threads that store the same value are a note in Launch.Warnings. It is in no other
	// set: the launch runs on one processor, and takes several times as long.
	CheckBlockRaces

	// CheckDivision finds integer divisions by zero. A GPU continues with all ones
	// as the result, so they are warnings, see Launch.Warnings.
	CheckDivision

	// CheckThreadRaces finds accesses to global memory by two threads of a block, at
	// least one of them a plain write and neither atomic nor volatile, that no barrier
	// orders, in launches of few threads. Such a race is a warning, see Launch.Warnings;
	// CheckBlockRaces looks for races in any launch and ends it at the first.
	CheckThreadRaces

	// CheckFaults are the checks that cost nothing. They find errors in any
	// program, at most of which a GPU ends the launch.
	CheckFaults = CheckBounds | CheckAlignment | CheckFreed | CheckBarriers | CheckMasks

	// CheckDefault is the set of a launch with Checks 0. It omits the search for races in
	// shared memory, which up to doubles the time of a launch.
	CheckDefault = CheckFaults | CheckUninitialized | CheckDivision | CheckThreadRaces

	CheckAll = CheckDefault | CheckRaces
)

// Has reports whether a launch with these checks looks for one of them.
func (c Checks) Has(check Checks) bool {
	if c == 0 {
		c = CheckDefault
	}
	return c&check != 0
}
