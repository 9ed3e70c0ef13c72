package ir

// ValueKind tells what a value is.
type ValueKind uint8

const (
	Constant    ValueKind = iota // a number in Bits
	Zero                         // null and zeroinitializer
	Undef                        // undef and poison
	Aggregate                    // a constant of Operands
	Argument                     // a parameter of the function
	Instruction                  // named by Op
	Expression                   // a constant expression, named by Op
	Symbol                       // a global variable or function, by Name
	Assembly                     // inline assembly, in Asm
	Meta                         // metadata as an argument
)

// Flags are the words that qualify an instruction.
type Flags uint16

const (
	NoUnsignedWrap Flags = 1 << iota
	NoSignedWrap
	Disjoint
	NonNegative
	Contract
	Approximate // afn
	Reciprocal  // arcp
	Volatile
	Invariant // a load of memory that does not change
	Weak      // cmpxchg
)

// Value is a constant, an argument or an instruction.
type Value struct {
	Kind     ValueKind
	Type     *Type
	Bits     uint64 // of a Constant: the number, or the pattern of a float in its own width
	High     uint64 // of a Constant of 128 bits: the upper half
	Op       string // instruction or constant expression
	Name     string // without its sign
	Flags    Flags
	Operands []*Value // of a call: the callee first; of a store: the value, the address
	Blocks   []*Block // of br and switch: the targets; of phi: where each operand comes from
	Cond     string   // predicate of a comparison, operation of atomicrmw
	Elem     *Type    // type that getelementptr, load, alloca and byval refer to
	Align    int      // bytes, 0 where the text names none
	Indices  []int    // of extractvalue and insertvalue; of a call: the alignment of each argument, 0 where the text names none
	Order    string   // of atomic instructions
	Scope    string   // of atomic instructions: "" is the whole system
	Asm      *Asm
	Words    []string // attributes of an Argument
	Line     int      // in the text of the intermediate code
	Place    Place    // in the source
	Block    *Block   // of an Instruction
}

// Asm is inline assembly.
type Asm struct {
	Text        string
	Constraints string
	Effects     bool
}

// Place is a position in the source. Line 0 is unknown.
type Place struct {
	File      string
	Line, Col int
}

// Block is a basic block. Its last value ends it.
type Block struct {
	Name   string
	Values []*Value
	Number int // position in its function
	filled bool
}

// Last is the instruction that ends a block.
func (b *Block) Last() *Value { return b.Values[len(b.Values)-1] }

// Next are the blocks that a block jumps to, in the order of its last instruction.
func (b *Block) Next() []*Block { return b.Last().Blocks }

// Func is a function, without blocks where it is only declared.
type Func struct {
	Name     string
	Result   *Type
	Params   []*Value
	Dots     bool
	Blocks   []*Block
	Kernel   bool
	Internal bool
	Attrs    map[string]string // of its groups; words without a value have ""
	Place    Place
}

// Global is a variable.
type Global struct {
	Name     string
	Type     *Type
	Space    int
	Init     *Value // nil where it is external
	Align    int
	Internal bool
}

// Module is a compiled source.
type Module struct {
	Globals []*Global
	Funcs   []*Func
	Vars    map[string]*Global
	Of      map[string]*Func
	Used    map[string]bool // symbols that must stay
	Flags   map[string]uint64
}

// Int returns the signed number of an integer constant or null, and whether v is one.
func (v *Value) Int() (int64, bool) {
	if v.Kind == Zero && (v.Type.Kind == Int || v.Type.Kind == Pointer) {
		return 0, true
	}
	if v.Kind != Constant || v.Type.Kind != Int || v.Type.Bits > 64 && v.High != uint64(int64(v.Bits)>>63) {
		return 0, false
	}
	if v.Type.Bits < 64 {
		shift := 64 - v.Type.Bits
		return int64(v.Bits<<shift) >> shift, true
	}
	return int64(v.Bits), true
}

// Has reports whether all flags are set.
func (v *Value) Has(f Flags) bool { return v.Flags&f == f }

// IsConstant reports whether a value needs no instruction of the function.
func (v *Value) IsConstant() bool { return v.Kind <= Aggregate || v.Kind >= Expression }

// Callee is the name of the function that a call names, "" for others.
func (v *Value) Callee() string {
	if v.Op == "call" && v.Operands[0].Kind == Symbol {
		return v.Operands[0].Name
	}
	return ""
}
