// Package analysis answers questions about the code of a program without running it: which
// registers decide how a thread goes on (Code.FindDecisive), which branches lead past the
// barriers of the block (Code.Leaving), and whether a loop reads no memory (Code.LoopsAlone).
//
// Its main type is Code, a list of instructions with what these questions need to know of
// each. Package engine makes it of a program when it is lowered, and again for the search for
// hangs. This package knows nothing of PTX and of execution, and must not import engine.
package analysis

// Code is the code of a program. An instruction that ends it goes to len(code).
type Code []Instruction

// Instruction is what the questions need to know of an instruction.
type Instruction struct {
	Flow     Flow
	Guarded  bool  // some threads may not run it
	Guard    int   // the predicate that decides, if it is guarded
	Target   int   // of Branch and Jump
	Targets  []int // of Indexed
	Operands []Operand

	Silent  bool // it has an effect on its own thread's registers alone
	Decides bool // its operands decide how its thread or others go on
	Clock   bool // it reads a clock
	Memory  bool // it accesses memory
	Differs bool // it gives different threads different values, whatever its operands are
	Barrier bool // it waits at a barrier of the block
	Acts    bool // it changes memory that others see
}

// Flow is where a thread goes from an instruction.
type Flow uint8

const (
	Next    Flow = iota
	Branch       // to its target, or on
	Jump         // to its target
	Indexed      // to one of its targets
	Leave        // it exits
)

// Operand is a register that an instruction reads or sets.
type Operand struct {
	Place
	Double bool // it has the next part, too
	Def    bool // it is set
	Data   bool // it is stored, and nothing else
}

// Place is a predicate, or a part of 32 bits a lane of the register file.
type Place struct {
	Predicate bool
	At        int
}

// each visits the parts of an operand.
func (o Operand) each(visit func(p Place)) {
	visit(o.Place)
	if o.Double && !o.Predicate {
		visit(Place{At: o.At + 1})
	}
}

// goesTo visits the instructions that may follow one.
func (c Code) goesTo(i int, visit func(to int)) {
	switch in := &c[i]; in.Flow {
	case Jump:
		visit(in.Target)
	case Branch:
		visit(in.Target)
		if in.Guarded {
			visit(i + 1)
		}
	case Indexed:
		for _, to := range in.Targets {
			visit(to)
		}
	case Leave:
		if in.Guarded {
			visit(i + 1)
		}
	default:
		visit(i + 1)
	}
}

// mostPasses bounds the passes through the code, for loops in loops.
const mostPasses = 64

// reaches marks the instructions that are of a kind, or from which one may be reached.
func (c Code) reaches(kind func(in *Instruction) bool) []bool {
	found := make([]bool, len(c)+1)
	for again, pass := true, 0; again && pass < mostPasses; pass++ {
		again = false
		for i := len(c) - 1; i >= 0; i-- {
			now := kind(&c[i])
			c.goesTo(i, func(to int) { now = now || found[to] })
			if now != found[i] {
				found[i], again = now, true
			}
		}
	}
	return found
}
