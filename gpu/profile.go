package gpu

// Profile holds the counters of a launch for each instruction of its PTX, of which
// Counters are the sums, and the addresses of the requests of its warps. gpu/explain
// makes tables and pictures of it.
type Profile struct {
	Entry        string
	File         string // PTX, as given to Load
	Instructions []InstructionProfile
}

// InstructionProfile counts one instruction, in the order of the text. One that
// is inlined at several places is counted at each.
type InstructionProfile struct {
	Name   string // "ld.shared.f32"
	Line   int    // in the PTX
	Source string // CUDA source line, "reduce.cu:41"; "" where it is not known

	Warps     uint64 // how often a warp ran it
	Threads   uint64 // with how many active lanes in all
	Divergent uint64 // of a branch: taken by some, not all, active lanes

	Global GlobalAccess // of requests to global memory
	Local  GlobalAccess // to local memory
	Shared SharedAccess // to shared memory

	// Requests are the patterns of requests to shared and global memory, those
	// that cost most in all first. Patterns of global memory that differ by
	// whole lines of 128 bytes are the same. Others counts the requests of
	// patterns beyond MostPatterns.
	Requests []Request
	Others   uint64

	// Branches are the patterns of a divergent branch, the most frequent first, at most
	// MostPatterns.
	Branches []Branch
}

// Branch is a pattern of a divergent branch: which lanes take it, and where it was met first.
type Branch struct {
	Taken, Active uint32
	Count         uint64 // how many there were
	Block         Dim
	Warp          int // of the block
}

// MostPatterns bounds how many patterns of one instruction are kept.
const MostPatterns = 512

// Request is a pattern of requests, and where it was met first.
type Request struct {
	Pattern        // addresses count from the start of shared memory or of the buffer
	Count   uint64 // how many there were
	Shared  bool   // of shared memory; else of global
	Memory  string // the shared variable or the buffer, such as "s"
	Start   uint64 // of the shared variable, in shared memory
	Block   Dim
	Warp    int // of the block
}

// Cost is the cost of all requests of the pattern: wavefronts of shared memory,
// or sectors of global memory.
func (r *Request) Cost() uint64 {
	cost, _ := r.Wavefronts()
	if !r.Shared {
		cost, _ = r.Sectors()
	}
	return r.Count * uint64(cost)
}
