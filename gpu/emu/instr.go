package emu

import (
	"unsafe"

	"warpbook/gpu/ptx"
)

// instr is an instruction made ready to run: what it does to a warp, and where
// its operands are. Operands are byte offsets into the warp's slots, or
// indices into its predicates.
type instr struct {
	exec       func(w *warp, in *instr, m uint32)
	flow       flow
	guard      uint32 // index of a predicate; always says "all lanes"
	flip       uint32 // all ones for @!p
	d, a, b, c uint32 // destination and sources
	target     int32  // of a branch
	lane       laneFunc
	kinds      string   // width letter of each operand, the destination first
	mode       rounding // of floats
	ftz, sat   bool
	sub        uint8   // which of a family: comparison, shuffle mode, ...
	imm        int64   // a constant of the family
	x          *extra  // what few instructions need
	mem        *access // of ld, st, atom and red
	vector     vectorForm
	run        int32 // instructions from here on that assembly can run
	src        *ptx.Instruction
}

// extra holds further operands.
type extra struct {
	d2       uint32 // second destination, a predicate
	hasD     bool
	hasD2    bool
	p        uint32 // predicate source
	pflip    uint32
	e        uint32 // fourth source
	targets  []int32
	from, to conversion
	setD     uint32 // tracked registers, for unset values that pass through
	setA     uint32
}

// flow is what the scheduler does with an instruction.
type flow uint8

const (
	next      flow = iota // run it, go on
	checked               // the same, but it may fault
	branch                // lanes that the guard lets through go to target
	jump                  // all go to target; not an instruction of the text
	indexed               // brx.idx
	leave                 // exit, or ret of the entry
	blockSync             // barrier: wait for threads of the block
	warpSync              // wait for the named lanes, then run it
)

// laneFunc is what an instruction does to one lane; narrow operands are zero
// extended and the result is cut to the destination's width.
type laneFunc func(in *instr, a, b, c uint64) uint64

// always is the predicate that is true in every lane.
const always = 0

// all is the mask of a whole warp.
const all = 1<<32 - 1

// lanes is a slot as 32 values of its width. Lowering has given every operand
// a slot of the right size, so it need not be checked here.
func lanes[T any](w *warp, offset uint32) *[32]T {
	return (*[32]T)(unsafe.Add(w.slots, offset))
}
