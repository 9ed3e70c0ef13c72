package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/analysis"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
)

// Program is an entry that is ready to run.
type Program struct {
	name     string
	file     string // as given to Load
	files    map[int]string
	code     []instr
	origins  []start     // possible starting points of global addresses; the first is none
	wide     []int       // parameters for which a start has bits
	sites    int         // memory instructions that the fast path can run
	steps    []simd.Step // the steps of code that assembly can run
	operands [][]operand // of each of code
	before   []int32     // instructions of the text before each of code; one longer
	counted  int32       // instructions of the text in code

	presets     []preset
	placed      []placed   // those that depend on the block's index
	constantOps []instr    // run once the other presets are set that do not depend on the launch
	constantsAt [][]*instr // those that count with each instruction
	places      []uint32   // of registers, as long as they live
	slotBytes   int
	preds       int
	tracked     int // registers whose unset lanes are tracked

	static        int // bytes of shared memory
	shared        []sharedVariable
	locals        map[string]uint64 // offsets of the variables of a thread, by symbol
	constants     []string          // variables of the module in constant memory
	marks         bool              // it looks at accesses from before the last barrier, see needsMarks
	acts          []bool            // by instruction: from it on, a thread may store
	comparedLarge atomic.Int32      // launches of many threads in several streams
	stores        bool              // it stores to global memory
	narrow        bool              // it may access less than 4 bytes of shared memory at once
	localBytes    int               // per thread
	localUsed     int               // the part of it that variables use
	flights       int               // registers of warpgroup products that are watched
	asynchronous  bool              // it has copies or products that end later
	copies        int               // loads that are used only by a store, see unset_bits.go
	params        []*ptx.Variable
	paramAt       []int // offset of each in the parameter bytes
	paramBytes    int
	attributes    gpu.Attributes
	fn            *ptx.Function
	inlined       *ptx.Function // with the functions that it calls
	text          *ptx.Module
	symbols       map[string]Symbol // of the module's variables

	indexing sync.Once
	indices  map[*ptx.Instruction]int // in the text, for a debugger

	analyse      func() analysis.Code
	decides      sync.Once
	decisiveOnes *analysis.Decisive // registers that decide how threads go on

	registers func() int // see CountRegisters; nil without a count
}

// CountRegisters gives a new program a function that knows how many registers a thread has,
// 0 where it does not. It is called at most once, and only where that decides how many
// blocks are resident: it may run an assembler.
func (p *Program) CountRegisters(count func() int) { p.registers = sync.OnceValue(count) }

// Registers are the registers of a thread, 0 where they are not known.
func (p *Program) Registers() int {
	if p.registers == nil {
		return 0
	}
	return p.registers()
}

// Name is the name of the entry.
func (p *Program) Name() string { return p.name }

// Attributes are the limits of launches of the entry.
func (p *Program) Attributes() gpu.Attributes { return p.attributes }

// Params are the parameters of the entry.
func (p *Program) Params() []gpu.Param {
	var params []gpu.Param
	for _, v := range p.params {
		params = append(params, gpu.Param{
			Name: v.Name, Bytes: v.Bytes(), Align: v.Align, Type: string(v.Type), Count: v.Count * v.Vector,
			Pointer: v.Ptr != nil || v.Count == 1 && (v.Type == "u64" || v.Type == "b64"),
		})
	}
	return params
}

// sharedVariable is a variable in shared memory; one whose size the launch gives extends
// to the end.
type sharedVariable struct {
	symbol    string
	name      string // in the CUDA source, or the symbol
	at, bytes uint64
}

// preset is a slot that has its value before the program starts.
type preset struct {
	value  value
	offset uint32
}

// placed is a preset that depends on the block's index.
type placed struct {
	preset
	of func(b *special.Block) uint64
}

// value is the value of an operand. Values other than registers are presets: equal ones
// share a slot.
type value struct {
	kind   valueKind
	reg    int    // of a register
	bits   uint64 // of a constant; offset of a parameter
	name   string // of a special register
	bytes  int    // of a parameter: number of bytes that are loaded
	signed bool   // and whether they are sign extended
	width  width
}

type valueKind uint8

const (
	registerValue valueKind = iota
	constantValue
	parameterValue
	specialValue
	threadValue // a register that findThreadConstants has found
)

// width is the size of a slot, by the letter that rows use.
type width byte

const (
	predicate width = 'p'
	half      width = 'h' // 16 bits in a 32-bit slot, zero extended
	word      width = 'w'
	double    width = 'd'
)

// bytes is the size of a value of the width.
func (w width) bytes() int {
	switch w {
	case half:
		return 2
	case word:
		return 4
	case double:
		return 8
	}
	return 0
}

// slot is the size of 32 values of the width in the register file.
func (w width) slot() int {
	if w == double {
		return 256
	}
	return 128
}

func widthOf(t ptx.Type) width {
	switch t.Bytes() {
	case 1:
		if t == "pred" {
			return predicate
		}
		return half
	case 2:
		return half
	case 4:
		return word
	case 8:
		return double
	}
	return 0
}

// Symbol is the place of a named variable or function.
type Symbol struct {
	Space   ptx.Space
	Address uint64 // in its space
	at      int    // of a parameter: offset in the parameter bytes
}

// mask is the bits of a narrow value in its 32-bit slot.
func (w width) mask() uint32 {
	if w == half {
		return 1<<16 - 1
	}
	return all
}

// Module is the text of a module and the places of its variables and functions.
type Module struct {
	Text    *ptx.Module
	Symbols map[string]Symbol
}

// rejectClusters rejects an entry whose launches count clusters in place of blocks, by
// the name of the directive.
func (m Module) rejectClusters(fn *ptx.Function) error {
	if !slices.Contains(fn.Clusters, "blocksareclusters") {
		return nil
	}
	return fmt.Errorf("emu: entry %s at %s:%d: %w: .blocksareclusters on the emulator: give the clusters by __cluster_dims__ or by Launch.Cluster, or run this entry on a GPU",
		fn.Name, m.Text.Name, fn.Pos.Line, gpu.ErrUnsupported)
}
