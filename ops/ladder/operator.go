// Package ladder is the model of a GPU operator: a ladder of documented rungs
// with a reference, plans of launches, operands, and the rules by which results
// are judged. It finds an operator's CUDA C++, PTX, machine code and notes.
//
// An operator is data: a formula, a float64 reference, and rungs that name
// their launches. Its folder holds its CUDA C++ and the PTX that is made of it
// (reduce.cu, reduce.sm_75.ptx), the operators (op.go), their rungs (rungs.go),
// launches (plan.go), references (reference.go), data and sizes (cases.go), and calls for
// programs (call.go). A rung is one CUDA function, one row in rungs.go, and go generate.
//
// The package knows devices only through gpu.Device; it opens none, draws
// nothing, compiles no CUDA, and names no operator.
package ladder

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile"
)

// Operator is a computation with a ladder of rungs.
type Operator struct {
	Name    string
	Module  string // NAME of NAME.cu and NAME.sm_75.ptx, "" for the operator's name
	Formula string
	Folder  string   // from the project's root: "ops/reduce"
	Files   fs.FS    // the folder's files: CUDA C++, PTX, notes, machine code, peers, measured runs
	Peers   []string // programs in its folder peers that benchmark other libraries: "reduce.cu", "reduce.py"
	Source  string   // the publication that the ladder follows
	Dims    []string // names of the numbers of a size: {"n"}, {"m", "n", "k"}
	MaxDim  int      // the largest value of each
	Inputs  func(Size) []Tensor
	Outputs func(Size) []Tensor

	// Valid refuses sizes that Dims and MaxDim allow; nil if there are none.
	Valid func(Size) error

	// ValidInputs refuses inputs that a rung could not read safely, such as an index out
	// of range, before anything is launched; nil where any values do.
	ValidInputs func(size Size, inputs []Values) error

	// Reference computes the expected outputs, one Expected an output: in float64,
	// or exactly.
	Reference func(stop Stop, size Size, inputs []Values) []Expected

	// Exact returns inputs for which float32 gives the same bits in every
	// order of summation. It decides where an error bound is too loose to decide.
	// Nil for operators whose results are exact, or that have an Order.
	Exact func(stop Stop, size Size, seed uint64) []Values

	// Data are the named data sets of its inputs. The first is the default; empty means
	// Uniform.
	Data []DataSet

	// Cases are the sizes at which the suite of tests runs every rung: the edges of
	// the rungs' tiles, no element, one element, a prime.
	Cases []Case

	// Parameters are the numbers that it depends on besides its size, and Remake returns the
	// operator with other values of them; nil where it has none.
	Parameters []Parameter
	PeersTake  []string // names of the parameters that its peers accept
	Remake     func(values []float64) (*Operator, error)

	Work     func(Size) Work
	Variants []Variant
}

// Work is the least work of any rung at a size, and the unit that it keeps busiest.
type Work struct {
	Bytes      float64 // that must move through memory
	Operations float64 // that must be executed; 0 where only memory counts
	Unit       string  // of the operations: "" is FLOP
	Roof       Roof    // the limit with which a rate is compared
}

// Bytes are those of Work.
func (o *Operator) Bytes(s Size) float64 { return o.Work(s).Bytes }

// Flops are the operations of Work.
func (o *Operator) Flops(s Size) float64 { return o.Work(s).Operations }

// Roof is the unit of a GPU that binds an operator.
type Roof string

// The roofs.
const (
	Memory     Roof = ""           // rates are bytes a second
	Arithmetic Roof = "arithmetic" // rates are operations a second
)

// Case is a size that the suite runs every rung at.
type Case struct {
	Size  Size
	Data  string // name of a data set, "" for the first
	Start int    // elements from the start of an allocation to every input and output
	Long  bool   // only where WARPBOOK_LONG is set
	OnGPU bool   // not on the emulator, where it takes minutes

	// Profile names profiles/NAME.h200.json, in which NVIDIA's profiler has counted
	// the launches of every rung at this size; "" for none. On the emulator the
	// counters are compared with it.
	Profile string
}

// Parameter is a number that an operator depends on besides its size, such as a
// factor, a length of rows or a rate.
type Parameter struct {
	Name    string
	Value   float64
	Default float64
	Whole   bool // it has whole numbers only, as a stride or a switch of 0 and 1 does
}

// Settings are the parameters as a title has them, "" where all have their defaults.
func (o *Operator) Settings() string {
	var parts []string
	other := false
	for _, p := range o.Parameters {
		parts = append(parts, p.Name+" = "+strconv.FormatFloat(p.Value, 'g', -1, 32))
		other = other || p.Value != p.Default
	}
	if !other {
		return ""
	}
	return strings.Join(parts, ", ")
}

// Set returns the operator with another value of a parameter; the error for an
// unknown name lists the nearest ones, and part of a whole parameter is an error.
func (o *Operator) Set(name string, value float64) (*Operator, error) {
	return o.SetAll(map[string]float64{name: value})
}

// MustSet is Set for notebooks, where an error ends the cell.
func (o *Operator) MustSet(name string, value float64) *Operator {
	other, err := o.Set(name, value)
	if err != nil {
		panic(err)
	}
	return other
}

// SetAll is Set of several parameters at once, where one limits the other: a padding is
// below its window.
func (o *Operator) SetAll(values map[string]float64) (*Operator, error) {
	names := make([]string, len(o.Parameters))
	for i, p := range o.Parameters {
		names[i] = p.Name
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("ops: %s: parameter %q: %w, %s", o.Name, name, gpu.ErrNotFound, gpu.Nearest(name, names))
		}
	}
	if len(values) == 0 {
		return o, nil
	}
	all := make([]float64, len(o.Parameters))
	for i, p := range o.Parameters {
		all[i] = p.Value
		if v, given := values[p.Name]; given {
			all[i] = v
		}
		if v := all[i]; p.Whole && (v != math.Trunc(v) || math.Abs(v) > 1<<53) {
			return nil, fmt.Errorf("ops: %s: %s = %v: %w, expected a whole number of at most 2^53", o.Name, p.Name, v, gpu.ErrArgument)
		}
	}
	return o.Remake(all)
}

// Size is the size of a problem, one number for each of Operator.Dims.
type Size []int

// Tensor is a named array in device memory; see Values for the host's.
type Tensor struct {
	Name string
	Len  int
	Type gpu.Type // on the device; 0 is Float32

	// Random numbers of an input are from Low to High, which integers do not reach;
	// both 0 is [0, 1), and of integers all that there are.
	Low, High float64

	// Count names the output that says how many elements of this one are results:
	// its Len is the most that there may be. "" for an output of fixed length.
	Count string

	// Judge decides whether the output is right; none is Exactly where the reference
	// has exact elements, and else RoundedSum.
	Judge Judge
}

// Variant is one way to compute an operator: a rung of its ladder.
type Variant struct {
	Name      string // CUDA symbol, PTX entry, table row and plot legend in one
	Adds      string // the one change to the rung before
	Source    string // where in the notes
	Published []Figure

	// Picks is set if the plan launches the entries of another rung.
	Picks bool

	// Needs is the compute capability below which the PTX has no such entry.
	Needs gpu.Compute

	// Module has the entries, "" for the operator's.
	Module string

	// Refuses says why a size cannot be run, with an error that wraps
	// gpu.ErrUnsupported; nil for a rung that takes any size.
	Refuses func(Size) error

	// Plan makes the launches of the rung. Its first entry has the rung's name,
	// further ones NAME_2 and so on, unless a pass is launched again.
	Plan func(entry string, size Size, info gpu.Info) Plan

	// Joined is set where NVIDIA's assembler joins neighbouring loads from shared
	// memory, so that a profiler sees fewer wavefronts than the PTX asks for. Dropped
	// is how many of these wavefronts it drops in each block.
	Joined  bool
	Dropped int

	// Own is the kernel of a cell, in place of an entry of the operator's PTX;
	// nil for a committed rung.
	Own *compile.Entry

	// Host, if not nil, computes the outputs in compiled Go instead.
	Host func(stop Stop, size Size, inputs, outputs []Values)

	// Order computes the outputs on the CPU in float32 and in the same order
	// of additions; nil where no order is given.
	Order func(stop Stop, size Size, inputs, outputs []Values)

	// Expect names the check that must fail at a size, or those of Either, "" for none; nil for a
	// variant that is right at every size.
	Expect func(Size) string
}

// Figure is a published measurement, or where one would be.
type Figure struct {
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"` // "ms", "GFLOP/s"; "" if no number is published
	Size    Size    `json:"size"`
	Device  string  `json:"device"` // "" for a GPU that is not named
	Where   string  `json:"where"`
	Comment string  `json:"comment"` // in place of a number: "only as an image"
}

// String is the figure as a table shows it.
func (f Figure) String() string {
	if f.Unit == "" {
		return f.Comment
	}
	return fmt.Sprintf("%v %s", f.Value, f.Unit)
}

// PublishedNear returns the figures published at the size nearest to one, and those
// whose size the notes do not say.
func (v Variant) PublishedNear(size Size) []Figure {
	var near, unsized []Figure
	best := math.Inf(1)
	for _, f := range v.Published {
		if len(f.Size) == 0 {
			unsized = append(unsized, f)
			continue
		}
		distance := 0.0
		for i := range size {
			distance += math.Abs(math.Log(float64(f.Size[i])) - math.Log(float64(max(1, size[i]))))
		}
		if distance < best {
			near, best = nil, distance
		}
		if distance == best {
			near = append(near, f)
		}
	}
	return append(near, unsized...)
}

// At returns the size of the figure as a table shows it.
func (f Figure) At() string {
	if len(f.Size) == 0 {
		return "a size that the notes do not say"
	}
	return f.Size.String()
}

// On returns the device on which the figure was measured.
func (f Figure) On() string {
	if f.Device == "" {
		return "GPU unknown"
	}
	return f.Device
}

// CheckSize rejects sizes that the operator is not defined for.
func (o *Operator) CheckSize(size Size) error {
	if len(size) != len(o.Dims) {
		return fmt.Errorf("ops: %s: size of %d numbers: %w, expected %s",
			o.Name, len(size), gpu.ErrArgument, strings.Join(o.Dims, ", "))
	}
	for i, d := range size {
		if d < 0 || d > o.MaxDim {
			return fmt.Errorf("ops: %s: %s = %d: %w, expected 0 to %d", o.Name, o.Dims[i], d, gpu.ErrArgument, o.MaxDim)
		}
	}
	if o.Valid == nil {
		return nil
	}
	return o.Valid(size)
}

// Describe is a size as a title has it: "n = 1048579".
func (o *Operator) Describe(size Size) string {
	parts := make([]string, len(size))
	for i, d := range size {
		parts[i] = fmt.Sprintf("%s = %d", o.Dims[i], d)
	}
	if settings := o.Settings(); settings != "" {
		parts = append(parts, settings)
	}
	return strings.Join(parts, ", ")
}

// ModuleOf is the NAME of NAME.cu and NAME.sm_75.ptx with a rung's entries.
func (o *Operator) ModuleOf(v Variant) string {
	return cmp.Or(v.Module, o.Module, o.Name)
}

// Modules are the sources of all rungs.
func (o *Operator) Modules() []string {
	var names []string
	for _, v := range append([]Variant{{}}, o.Variants...) {
		if name := o.ModuleOf(v); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Variant returns a rung by name; the error for an unknown name lists the
// nearest ones.
func (o *Operator) Variant(name string) (Variant, error) {
	var names []string
	for _, v := range o.Variants {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("ops: %s: variant %q: %w, %s", o.Name, name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// Choose returns the named rungs in the order of the names, all for none.
func (o *Operator) Choose(names []string) ([]Variant, error) {
	if len(names) == 0 {
		return o.Variants, nil
	}
	chosen := make([]Variant, len(names))
	for i, name := range names {
		v, err := o.Variant(name)
		if err != nil {
			return nil, err
		}
		chosen[i] = v
	}
	return chosen, nil
}
