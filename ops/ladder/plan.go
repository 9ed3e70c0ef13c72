package ladder

import (
	"fmt"
	"strings"

	"warpbook/gpu"
)

// Plan is a rung at one size on one device. A plan without steps is of a
// problem without elements: the outputs are zeros.
type Plan struct {
	Steps   []Step
	Scratch []Tensor // device memory that the steps share
	Tables  []Table  // that the host builds for this size, and that the steps read
	Statics []string // module variables of float32 that they use as scratch
	Consts  []Const  // module variables that hold an input
	Tickets []string // module variables that are 0 before a run, and again after it
	Depth   int      // additions that round, on the longest way from an input to an output
	Round   float64  // error besides, as a share of the sum of |terms|: of factors, outputs or arithmetic in fewer bits
	Atomics int      // float additions by atomics in global memory, which make subnormals 0
	Module  string   // has the entries, "" for the rung's

	// AnyOrder is set where the order of results is chance. A judge that allows it
	// demands the order of the reference of all other plans.
	AnyOrder bool

	// Unaligned is the plan instead of this one where a matrix of its maps does not
	// start at a multiple of 16 bytes; nil for an error.
	Unaligned func() Plan
}

// Table is device memory whose contents the host builds, such as a map of tiles.
type Table struct {
	Tensor
	Values Values
}

// Const is a module variable, declared __constant__, that receives the elements of an
// input or output of float32 before the plan's launches, as cudaMemcpyToSymbol does. A
// time leaves this copy out: it is made once for many launches.
type Const struct {
	Variable string
	Tensor   string
	Reversed bool // the last element first
}

// Step is one launch of a plan.
type Step struct {
	Entry  string
	Grid   gpu.Dim
	Block  gpu.Dim
	Shared int      // bytes of dynamic shared memory
	Args   []any    // a string names an input, an output or scratch, so does a TensorMap; an Argument; else an argument of gpu.Launch
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

// Of is the map of a buffer, which may be a view that the copy engine does not take.
func (m TensorMap) Of(buffer gpu.Buffer) (gpu.TensorMap, error) {
	place, err := buffer.Place()
	if err == nil && place.Start%16 != 0 {
		err = fmt.Errorf("%w: %s is a view from byte %d of its buffer on: the copy engine takes matrices that start at a multiple of 16 bytes, use another rung",
			gpu.ErrUnsupported, m.Tensor, place.Start)
	}
	encoded := gpu.TensorMap{Buffer: buffer, Shape: []int{m.Columns, m.Rows}, Strides: []int{m.LD * buffer.Type().Bytes()}, Box: []int{m.Box[1], m.Box[0]}, TF32: m.TF32}
	if m.Box[1]*buffer.Type().Bytes() == 128 {
		encoded.Swizzle = 128
	}
	if m.Count > 0 {
		encoded.Shape, encoded.Strides, encoded.Box = append(encoded.Shape, m.Count), append(encoded.Strides, m.Next*buffer.Type().Bytes()), append(encoded.Box, 1)
	}
	return encoded, err
}

// String is the plan's launches.
func (p Plan) String() string {
	if len(p.Steps) == 0 {
		return "plan without launches: the outputs are zeros"
	}
	steps := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = s.String()
	}
	return "plan of " + strings.Join(steps, ", then ")
}

// String is the launch's entry and shape.
func (s Step) String() string {
	text := fmt.Sprintf("%s: grid %v, block %v", s.Entry, s.Grid.Full(), s.Block.Full())
	if s.Shared > 0 {
		text += fmt.Sprintf(", %d bytes of dynamic shared memory", s.Shared)
	}
	return text
}

// Planner is the type of Variant.Plan.
type Planner = func(entry string, size Size, info gpu.Info) Plan

// NewScratch adds device memory to the plan and returns its name.
func (p *Plan) NewScratch(name string, n int) string {
	p.Scratch = append(p.Scratch, Tensor{Name: name, Len: n})
	return name
}

// CeilDiv is a / b rounded up, of a from 0 and b from 1 on.
func CeilDiv(a, b int) int { return (a + b - 1) / b }
