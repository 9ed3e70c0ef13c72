package engine

import (
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// instr is an instruction that is ready to run: its effect on a warp, and the places of
// its operands. Operands are byte offsets into the warp's slots, or indices into its
// predicates.
type instr struct {
	exec       func(w *warp, in *instr, m uint32)
	flow       flowKind
	guard      uint32  // index of a predicate; always means all lanes
	flip       uint32  // all ones for @!p
	d, a, b, c uint32  // destination and sources
	target     int32   // of a branch
	leaves     leaving // a branch past the barriers of the block, see findLeaving
	skips      bool    // a branch over straight code, see findSkips
	lane       arith.Lane
	kinds      string          // width letter of each operand, the destination first
	operation  arith.Operation // rounding of lane
	sub        uint8           // which of a family: comparison, shuffle mode, ...
	x          *extra          // operands that few instructions have
	mem        *access         // of ld, st, atom and red
	vector     vectorForm
	run        int32 // number of instructions from here on that assembly can run
	through    int32 // the same through branches that no lane takes
	src        *ptx.Instruction
}

// extra holds further operands.
type extra struct {
	d2      uint32 // second destination, a predicate
	hasD    bool
	hasD2   bool
	p       uint32 // predicate source
	pflip   uint32
	e       uint32 // fourth source
	targets []int32
	wait    groupWait // of groupSync
}

// groupWait is a wait for other warps: those of the cluster or of the warpgroup.
type groupWait interface {
	// wait makes lanes of a fragment wait; it reports whether the fragment continues.
	wait(w *warp, f *fragment, in *instr, m uint32) bool

	// met reports whether a fragment that waits can continue.
	met(w *warp, f *fragment, in *instr) bool
}

// flowKind is the action of the scheduler for an instruction.
type flowKind uint8

const (
	next      flowKind = iota // run it and continue
	checked                   // the same, but it may fault
	branch                    // lanes that the guard lets through go to target
	jump                      // all go to target; not an instruction of the text
	indexed                   // brx.idx
	leave                     // exit, or ret of the entry
	blockSync                 // barrier: wait for threads of the block
	groupSync                 // barrier.cluster.wait, wgmma.wait_group: wait for other warps
	warpSync                  // wait for the named lanes, then run it
)

// leaving is the way of a branch behind which no barrier of the block comes. Threads that
// take it, do something else, and exit are missing at a barrier; threads that only return are
// excused: a bounds check before a barrier is correct on a GPU.
type leaving uint8

const (
	stays     leaving = iota
	takenGoes         // the lanes that take the branch
	othersGo          // the others
)

// always is the predicate that is true in every lane.
const always = 0

// lanes is a slot as 32 values of its width. Lowering gives every operand a slot of the
// right size, so no check is needed.
func lanes[T any](w *warp, offset uint32) *[32]T {
	return (*[32]T)(unsafe.Add(w.slots, offset))
}
