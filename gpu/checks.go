package gpu

// Checks is a set of checks of a launch. A launch is checked for what its set
// holds and for nothing else: CheckDefault &^ CheckAlignment leaves one out.
//
// Whatever the set, no access leaves the memory of the device, and a launch
// that cannot end, because no thread can go on, is a fault.
type Checks uint16

const (
	// CheckUninitialized finds reads of memory and registers that were never
	// written. Without it they hold ones, or what was there before.
	CheckUninitialized Checks = 1 << iota

	// CheckRaces finds accesses to shared memory by two threads of a block, at
	// least one of them a write, that no barrier orders.
	CheckRaces

	// CheckNone, alone, checks nothing.
	CheckNone

	// CheckBounds finds accesses past the end or before the start of a buffer,
	// of shared or local memory, or of a variable in shared memory, and
	// addresses of no buffer or of another space. Without it a read of what is
	// in no buffer gives zeros and a write is dropped, and Counters.Dropped
	// counts both, where a GPU ends the launch or touches what lies there; in
	// shared memory an access reaches the variable that lies there, as on a GPU.
	CheckBounds

	// CheckAlignment finds addresses that are no multiple of the access's size.
	// Without it the access is made byte by byte, where a GPU ends the launch;
	// of an atomic that is not atomic.
	CheckAlignment

	// CheckFreed finds accesses to buffers that were freed. Without it they
	// are as those to no buffer without CheckBounds.
	CheckFreed

	// CheckBarriers finds lanes of a warp that wait at different barrier
	// instructions, and counts of threads that are no multiple of 32, differ
	// among those who wait, or are exceeded, at which a GPU ends the launch.
	// Without it a barrier lets all go on once as many have come as the last
	// to come says, wherever they wait.
	CheckBarriers

	// CheckMasks finds lanes that run an operation such as shfl.sync and are
	// not in the mask that they name. Without it they take part in it.
	CheckMasks

	// CheckFaults are the checks that cost nothing: what is wrong in any
	// program, and what a GPU mostly ends a launch for.
	CheckFaults = CheckBounds | CheckAlignment | CheckFreed | CheckBarriers | CheckMasks

	// CheckDefault is what a launch that asks for nothing is checked for:
	// without races, which cost up to as much again as the launch itself.
	CheckDefault = CheckFaults | CheckUninitialized

	CheckAll = CheckDefault | CheckRaces
)

// Has reports whether a launch with these checks looks for one of them.
func (c Checks) Has(check Checks) bool {
	if c == 0 {
		c = CheckDefault
	}
	return c&check != 0
}
