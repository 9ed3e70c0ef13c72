// Package ops holds GPU operators, each a ladder of documented variants, and
// the bench that checks, times and counts them.
//
// An operator is data: a formula, a float64 reference, and variants that name
// their launches. Its CUDA C++ stands beside it, and so does the PTX that is
// made of it: reduce.cu, reduce.sm_75.ptx, reduce.go. A variant is one CUDA
// function, one line in the operator's table, and `go generate ./ops`.
//
// The package knows devices only through gpu.Device, and how to show a result
// only as a table of strings; it opens no device, draws nothing, and compiles
// no CUDA.
package ops

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/compile"
)

//go:generate go run ../gpu/nvrtc -arch sm_75 -release 12.0 reduce.cu reduce_mistakes.cu gemm.cu gemm_tensor.cu gemm_batched.cu gemm_bias_relu.cu
//go:generate go run ../gpu/nvrtc -arch sm_80 -release 12.0 reduce.cu gemm.cu gemm_tensor.cu gemm_batched.cu gemm_bias_relu.cu
//go:generate go run ../gpu/nvrtc -arch sm_90a -release 12.0 gemm_hopper.cu gemm_specialized.cu gemm_cluster.cu

// Operators lists every operator, in the order of the notebooks.
func Operators() []*Operator {
	return []*Operator{Reduce, ReduceMistakes, Gemm, GemmTF32, GemmBF16, GemmFP16, GemmBatched, GemmBiasReLU}
}

// Find returns an operator by name; the error for an unknown name lists the
// nearest ones.
func Find(name string) (*Operator, error) {
	var names []string
	for _, o := range Operators() {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return nil, fmt.Errorf("ops: operator %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// Operator is a computation on float32 with a ladder of variants.
type Operator struct {
	Name     string
	Module   string // NAME of NAME.cu and NAME.sm_75.ptx, "" for the operator's name
	Formula  string
	Settings string   // parameters that are not sizes, as a title has them; "" for none
	Source   string   // the publication that the ladder follows
	Dims     []string // what the numbers of a size are: {"n"}, {"m", "n", "k"}
	MaxDim   int      // the largest value of each
	Inputs   func(Size) []Tensor
	Outputs  func(Size) []Tensor

	// Valid refuses sizes that Dims and MaxDim allow; nil if there are none.
	Valid func(Size) error

	// Reference computes the outputs in float64, one Expected an output.
	Reference func(stop Stop, size Size, inputs [][]float32) []Expected

	// Exact returns inputs for which float32 gives the same bits in every
	// order of summation. It decides where an error bound is too loose to.
	Exact func(stop Stop, size Size, seed uint64) [][]float32

	Bytes        func(Size) float64 // that any variant must move
	Flops        func(Size) float64
	ComputeBound bool // its tables show GFLOP/s
	Variants     []Variant
}

// Size is the size of a problem, one number for each of Operator.Dims.
type Size []int

// Tensor is a named array of float32, or of a narrower type, in device memory.
// On the host it is float32 in any case: what is uploaded is rounded to the
// type before, and what is downloaded is widened.
type Tensor struct {
	Name string
	Len  int
	Type gpu.Type // on the device: Float32, Float16 or BFloat16; 0 is Float32

	// Random numbers of an input are from Low to High; both 0 is [0, 1).
	Low, High float32
}

// Variant is one way to compute an operator: a rung of its ladder.
type Variant struct {
	Name      string // CUDA symbol, PTX entry, table row and plot legend in one
	Adds      string // the one change to the rung before
	Source    string // where in the notes
	Published []Figure

	// Picks is set where the plan launches the entries of another variant.
	Picks bool

	// Needs is the compute capability below which the PTX has no such entry.
	Needs gpu.Compute

	// Module has the entries, "" for the operator's.
	Module string

	// Refuses says why a size cannot be run, with an error that wraps
	// gpu.ErrUnsupported; nil for a variant that takes any size.
	Refuses func(Size) error

	// Plan says how the variant runs. Its first entry has the variant's name,
	// further ones NAME_2 and so on, unless a pass is launched again.
	Plan func(entry string, size Size, info gpu.Info) Plan

	// Own is the kernel of a cell, in place of an entry of the operator's PTX;
	// nil for a committed variant.
	Own *compile.Entry

	// Host, if not nil, computes the outputs in compiled Go instead.
	Host func(stop Stop, size Size, inputs, outputs [][]float32)

	// Order computes the outputs on the CPU in float32 and in the same order
	// of additions; nil where no order is given.
	Order func(stop Stop, size Size, inputs, outputs [][]float32)

	// Expect names the check that must fail at a size, "" for none; nil for a
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

// publishedNear are the figures published at the size nearest to one.
func (v Variant) publishedNear(size Size) []Figure {
	var near []Figure
	best := math.Inf(1)
	for _, f := range v.Published {
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
	return near
}

// device says what the figure was measured on.
func (f Figure) device() string {
	if f.Device == "" {
		return "GPU unknown"
	}
	return f.Device
}

// Plan is a variant at one size on one device. A plan without steps is of a
// problem without elements: the outputs are zeros.
type Plan struct {
	Steps   []Step
	Scratch []Tensor // device memory that the steps share
	Statics []string // module variables of float32 that they use as scratch
	Tickets []string // module variables that are 0 before a run, and again after it
	Depth   int      // additions that round, on the longest way from an input to an output
	Round   float64  // error besides, as a share of the sum of |terms|: of factors or outputs in fewer bits
	Atomics int      // float additions by atomics in global memory, which make subnormals 0
	Module  string   // has the entries, "" for the variant's

	// Unaligned is the plan instead of this one where a matrix of its maps does not
	// start at a multiple of 16 bytes; nil for an error.
	Unaligned func() Plan
}

// Step is one launch of a plan.
type Step struct {
	Entry  string
	Grid   gpu.Dim
	Block  gpu.Dim
	Shared int      // bytes of dynamic shared memory
	Args   []any    // a string names an input, an output or scratch, so does a TensorMap; an Argument; else what gpu.Launch has
	Zero   []string // set to 0 before the launch
}

// TensorMap describes a matrix, row-major, or a batch of them, whose boxes the copy
// engine copies.
type TensorMap struct {
	Tensor        string // an input, an output or scratch
	Rows, Columns int
	LD            int    // elements from row to row
	Box           [2]int // rows and columns; where a row of it is 128 bytes, its vectors are exchanged against bank conflicts
	TF32          bool   // float32 is rounded to TF32 on its way into shared memory
	Count, Next   int    // matrices of a batch, and elements from one to the next; 0 for one matrix, whose boxes have no third coordinate
}

// Argument builds an argument from the memory of inputs, outputs and scratch,
// such as a struct of addresses.
type Argument func(memory func(name string) gpu.Buffer) (any, error)

// check refuses sizes that the operator is not defined for.
func (o *Operator) check(size Size) error {
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

// fits refuses sizes whose inputs and outputs are more than the device holds, or
// the host: it has the inputs and a copy to compare them with, and as an
// emulator the device's memory, too.
func (o *Operator) fits(size Size, info gpu.Info) error {
	var device, host float64
	for _, t := range append(o.Inputs(size), o.Outputs(size)...) {
		device += float64(t.elements().Bytes()) * float64(t.Len)
		host += 2 * 4 * float64(t.Len)
	}
	if info.Emulated {
		host += device * 9 / 8 // which bytes were written
	}
	const gib = 1 << 30
	if device > float64(info.GlobalBytes) {
		return fmt.Errorf("ops: %s: %s: %w: %.4g GiB, %s has %.4g", o.Name, o.describe(size), gpu.ErrMemory,
			device/gib, info.Name, float64(info.GlobalBytes)/gib)
	}
	if free, known := gpu.HostFree(); known && host > float64(free) {
		return fmt.Errorf("ops: %s: %s: %w: %.4g GiB of the host's memory, which has %.4g left: take a smaller size",
			o.Name, o.describe(size), gpu.ErrMemory, host/gib, float64(free)/gib)
	}
	return nil
}

// describe is a size as a title has it: "n = 1048579".
func (o *Operator) describe(size Size) string {
	parts := make([]string, len(size))
	for i, d := range size {
		parts[i] = fmt.Sprintf("%s = %d", o.Dims[i], d)
	}
	if o.Settings != "" {
		parts = append(parts, o.Settings)
	}
	return strings.Join(parts, ", ")
}

// module is the NAME of NAME.cu and NAME.sm_75.ptx with a variant's entries.
func (o *Operator) module(v Variant) string {
	return cmp.Or(v.Module, o.Module, o.Name)
}

// Modules are the sources of all variants.
func (o *Operator) modules() []string {
	var names []string
	for _, v := range append([]Variant{{}}, o.Variants...) {
		if name := o.module(v); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Variant returns a variant by name; the error for an unknown name lists the
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

// choose returns the named variants in the order of the names, all for none.
func (o *Operator) choose(names []string) ([]Variant, error) {
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
