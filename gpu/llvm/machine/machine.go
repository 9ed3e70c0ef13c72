// Package machine holds functions of PTX instructions over virtual registers, and makes
// text of them: it removes instructions whose results are unused, gives the registers that
// a phi joins one name where their lifetimes allow, and copies them elsewhere. Package
// lower, its caller, chooses the instructions.
package machine

import "strconv"

// Class is a kind of register.
type Class uint8

const (
	Pred Class = iota
	B16
	B32
	B64
	classes
)

var prefixes = [classes]string{"%p", "%rs", "%r", "%rd"}
var widths = [classes]string{"pred", "b16", "b32", "b64"}

// String is the type that a register of the class is declared with.
func (c Class) String() string { return widths[c] }

// Reg is a virtual register of a function; 0 is none.
type Reg int32

// Operand is a register, or text where Reg is 0.
type Operand struct {
	Reg  Reg
	Text string
}

// Text is an operand that is no register.
func Text(text string) Operand { return Operand{Text: text} }

// Number is an integer as an operand.
func Number(n int64) Operand { return Operand{Text: strconv.FormatInt(n, 10)} }

// Place is the source line of an instruction: a number of Func.Files and a line, 0 for none.
type Place struct{ File, Line, Col int }

// Instr is one instruction, or a statement of several that belong together.
type Instr struct {
	Format string    // "add.s32 $0, $1, $2": $i is operand i, $$ a dollar sign
	Args   []Operand // the first Defs are written
	Defs   int
	Pure   bool // has no effect but its results
	Copy   bool // of Args[1] to Args[0], which the instructions after it may change
	Raw    bool // whole statements, which no semicolon follows
	Early  bool // writes a result before it has read all operands
	Place  Place
}

// Move is a copy on an edge.
type Move struct {
	To   Reg
	From Operand
}

// Exit is a way out of a block, taken where its predicate holds.
type Exit struct {
	When  Reg // 0: always
	Not   bool
	To    *Block
	Moves []Move // in parallel, to the phis of To
}

// Block is a basic block. One without exits ends by its last instruction.
type Block struct {
	Instrs []Instr
	Phis   []Reg // written at its start
	Exits  []Exit
	Depth  int // loops around it
	index  int // in Func.Blocks
	label  string
}

// Func is a function in the order in which its blocks are printed.
type Func struct {
	Blocks  []*Block
	classes []Class // by register
	label   string
}

// New is a function whose labels begin with a word.
func New(label string) *Func { return &Func{classes: []Class{0}, label: label} }

// NewReg makes a register.
func (f *Func) NewReg(c Class) Reg {
	f.classes = append(f.classes, c)
	return Reg(len(f.classes) - 1)
}

// ClassOf is the class of a register.
func (f *Func) ClassOf(r Reg) Class { return f.classes[r] }

// removeDead removes pure instructions, and moves to phis, whose results are unused.
func (f *Func) removeDead() {
	needed := make([]bool, len(f.classes))
	var work []Reg
	need := func(o Operand) {
		if o.Reg != 0 && !needed[o.Reg] {
			needed[o.Reg] = true
			work = append(work, o.Reg)
		}
	}
	makers := make([][]Operand, len(f.classes)) // what a register is made of
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Pure {
				for _, d := range in.Args[:in.Defs] {
					makers[d.Reg] = append(makers[d.Reg], in.Args[in.Defs:]...)
				}
				continue
			}
			for _, a := range in.Args {
				need(a)
			}
		}
		for _, e := range b.Exits {
			need(Operand{Reg: e.When})
			for _, m := range e.Moves {
				makers[m.To] = append(makers[m.To], m.From)
			}
		}
	}
	for len(work) > 0 {
		r := work[len(work)-1]
		work = work[:len(work)-1]
		for _, o := range makers[r] {
			need(o)
		}
	}
	for _, b := range f.Blocks {
		b.keep(needed)
	}
}

// keep drops what makes only registers that are not needed.
func (b *Block) keep(needed []bool) {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		use := !in.Pure
		for _, d := range in.Args[:in.Defs] {
			use = use || needed[d.Reg]
		}
		if use {
			kept = append(kept, in)
		}
	}
	b.Instrs = kept
	phis := b.Phis[:0]
	for _, r := range b.Phis {
		if needed[r] {
			phis = append(phis, r)
		}
	}
	b.Phis = phis
	for i := range b.Exits {
		moves := b.Exits[i].Moves[:0]
		for _, m := range b.Exits[i].Moves {
			if needed[m.To] {
				moves = append(moves, m)
			}
		}
		b.Exits[i].Moves = moves
	}
}
