// Package ptx turns PTX text into a checked module with source positions. Parse returns
// the main type, Module. The emulator, the loader of modules and package compile call it.
//
// It knows the language's syntax, scopes and declarations, not the meaning of
// instructions: opcodes and modifiers stay words, and gpu/emu decides which of them it
// executes. It does not optimise, executes nothing, and imports only the standard
// library.
package ptx

import (
	"fmt"
	"strings"
)

// Pos is a place in the PTX text; both count from 1, columns in bytes.
type Pos struct{ Line, Col int }

// Module is one PTX file.
type Module struct {
	Name         string // as given to Parse, for errors
	Version      [2]int // .version 7.8 is {7, 8}
	Target       string // "sm_75", "sm_90a"
	Options      []string
	AddressBytes int                 // 8 or 4
	Files        map[int]string      // .file index -> name
	Variables    []*Variable         // .global, .const and .extern .shared of the module
	Functions    []*Function         // entries and .func, in order of the text
	Sections     map[string]*Section // debug sections, such as "debug_info"; nil if there are none
}

// Entry finds an entry by name; nil if there is none.
func (m *Module) Entry(name string) *Function {
	for _, f := range m.Functions {
		if f.Entry && f.Name == name {
			return f
		}
	}
	return nil
}

// Space is a state space.
type Space uint8

// The state spaces. Generic is that of an address with no space named.
const (
	Generic Space = iota
	Register
	Global
	Shared
	Local
	Const
	Parameter
)

// Type is a fundamental type without its dot: "f32", "b64", "pred", "u8".
type Type string

// Bytes is the size of a value of the type; pred counts as 1, an unknown type
// as 0.
func (t Type) Bytes() int {
	switch t {
	case "pred", "u8", "s8", "b8", "e4m3", "e5m2":
		return 1
	case "u16", "s16", "b16", "f16", "bf16":
		return 2
	case "u32", "s32", "b32", "f32", "f16x2", "bf16x2", "tf32":
		return 4
	case "u64", "s64", "b64", "f64":
		return 8
	case "b128":
		return 16
	}
	return 0
}

// Opaque reports whether the type is a handle without a size: a texture, sampler
// or surface.
func (t Type) Opaque() bool { return t == "texref" || t == "samplerref" || t == "surfref" }

// Variable is memory that the text declares: module variables, parameters,
// and the .shared, .local and .param variables of a function body.
type Variable struct {
	Name   string
	Pos    Pos
	Space  Space
	Type   Type // of one element (one component of a vector)
	Vector int  // components of an element: 1, 2 or 4
	Count  int  // elements; 0 for an array of unspecified size (.extern .shared x[])
	Align  int  // bytes
	Extern bool
	Init   []byte   // initial contents, shorter than the variable when the rest is 0; nil if none
	Relocs []Reloc  // addresses of other symbols inside Init
	Ptr    *Pointer // .ptr attribute of an entry's parameter, or nil
}

// Bytes is the size of the variable; 0 for unspecified size.
func (v *Variable) Bytes() int { return v.Type.Bytes() * v.Vector * v.Count }

// Reloc stores the address of a symbol at an offset of a variable's contents.
type Reloc struct {
	Offset  int
	Symbol  string
	Addend  int64
	Generic bool // generic(symbol)
	Bytes   int  // stored, low byte first: 8, 4, or 1 of a mask such as 0xff00(symbol)
	Shift   int  // bits by which the address is shifted right before, 8 for 0xff00(symbol)
}

// Pointer is the .ptr attribute of a pointer parameter.
type Pointer struct {
	Space Space
	Align int
}

// Function is an entry or a device function.
type Function struct {
	Name      string
	Pos       Pos
	Entry     bool
	Returns   []*Variable
	Params    []*Variable
	MaxThread [3]int      // .maxntid; zero if absent
	ReqThread [3]int      // .reqntid; zero if absent
	Cluster   [3]int      // .reqnctapercluster; zero if absent
	Clusters  []string    // .explicitcluster, .blocksareclusters: how a launch makes clusters
	Extern    bool        // declared, without a body
	Registers []Reg       // those that the code names, in order of first use
	Variables []*Variable // of the body; names made unique where scopes repeat them
	Code      []Instruction
	Labels    map[string]int      // label -> index into Code (len(Code) at the end)
	Inlined   []Inlined           // calls whose functions were put into Code, see flow.Inline
	Tables    map[string][]string // .branchtargets label lists, for brx.idx; .calltargets

	// Prototypes are the .callprototype declarations that indirect calls name;
	// only Returns, Params and Pos are set.
	Prototypes map[string]*Function
}

// Inlined is the code of a function that stands in that of its caller: the instructions
// [From, To), after that of the call. The names of its variables have the prefix.
type Inlined struct {
	Function *Function
	Prefix   string
	From, To int
}

// Reg is a virtual register. Operands name it by its index in Registers.
type Reg struct {
	Name string
	Type Type
}

// Instruction is one instruction of the text.
type Instruction struct {
	Pos       Pos
	Source    Source   // CUDA source line of the last .loc, if any
	Inlined   Source   // of a function's code that was put in its caller: the line of the call
	Guard     int      // register of the @p guard, or -1
	Negated   bool     // @!p
	Opcode    string   // "ld"
	Modifiers []string // "global", "v4", "f32": the rest of the opcode, in order; shared, not to be written
	Operands  []Operand
}

// Name is the opcode with its modifiers: "ld.global.f32".
func (i Instruction) Name() string {
	if len(i.Modifiers) == 0 {
		return i.Opcode
	}
	return i.Opcode + "." + strings.Join(i.Modifiers, ".")
}

// Place is an instruction's line of the source, if that is known, with its line of the
// PTX: "cell5.cu:3 (cell5.ptx:41)".
func (m *Module) Place(in *Instruction) string {
	place := fmt.Sprintf("%s:%d", m.Name, in.Pos.Line)
	if file := m.Files[in.Source.File]; file != "" {
		place = fmt.Sprintf("%s:%d (%s)", file, in.Source.Line, place)
	}
	return place
}

// Source is a line of the source that the PTX was compiled from.
type Source struct {
	File int // index into Module.Files; 0 if unknown
	Line int
}

// OperandKind is the kind of an operand, which determines the fields that are set.
type OperandKind uint8

// The kinds of operand.
const (
	RegisterOperand  OperandKind = iota // Reg; Negated for !p; Symbol for the part of a video instruction: "b0", "h1"
	PairOperand                         // Reg|Second: d|p of shfl, setp and match (either may be -1 for _)
	ImmediateOperand                    // Bits, Float
	SymbolOperand                       // Symbol + Offset: the address of a variable or function
	AddressOperand                      // [Reg + Offset] or [Symbol + Offset] or [Offset]: Reg is -1 without a register; Elems: further parts, of textures and tensors
	VectorOperand                       // Elems: {a, b, c, d}
	SpecialOperand                      // Symbol: "%tid.x"
	LabelOperand                        // Symbol: a label of the function
	ListOperand                         // Elems: (a, b) of call
	IgnoreOperand                       // _
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind    OperandKind
	Pos     Pos
	Reg     int
	Second  int
	Negated bool
	Bits    uint64 // integer value; for a float literal its IEEE bits (0f: 32, 0d and decimal: 64)
	Float   byte   // 0 for an integer, else 32 or 64: the width of a float literal's Bits
	Symbol  string
	Offset  int64
	Elems   []Operand
}
