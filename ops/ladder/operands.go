package ladder

import (
	"fmt"

	"warpbook/gpu"
)

// Runner runs operators on buffers of a caller's, with the rungs and plans of
// their ladders; run.Handle is one.
type Runner interface {
	// Device is where the buffers must be.
	Device() gpu.Device

	// Rung names the rung that the caller wants, "" for the best.
	Rung() string

	// Launch runs that rung; without one the first of those preferred, or of all
	// from the last to the first, that is supported. It does not check the memory.
	Launch(o *Operator, size Size, memory map[string]gpu.Buffer, preferred ...string) error
}

// Operands are those of one call of an operator by a Runner. They are checked
// before anything is launched; the first error is kept.
type Operands struct {
	runner  Runner
	name    string                // of the operator
	memory  map[string]gpu.Buffer // views of the used part of each buffer, by the plan's names
	regions []region
	err     error // the first
}

// NewOperands is for a call of the named operator.
func NewOperands(runner Runner, operator string) *Operands {
	return &Operands{runner: runner, name: operator, memory: map[string]gpu.Buffer{}}
}

// Fail notes the error of an operand, unless there is an earlier error.
func (c *Operands) Fail(operand string, kind error, fact, expected string) {
	if c.err == nil {
		c.err = fmt.Errorf("ops: %s: %s: %w: %s, %s", c.name, operand, kind, fact, expected)
	}
}

// Err is the first error, nil if there is none so far.
func (c *Operands) Err() error { return c.err }

// Alias gives an operand a second name.
func (c *Operands) Alias(name, of string) { c.memory[name] = c.memory[of] }

// AddTensors adds the inputs and outputs of an operator at a size, each with the buffer of its
// name, which has exactly their elements.
func (c *Operands) AddTensors(o *Operator, size Size, buffers map[string]gpu.Buffer) {
	inputs := o.Inputs(size)
	for i, t := range append(inputs, o.Outputs(size)...) {
		b := buffers[t.Name]
		if b != nil && b.Len() != t.Len {
			c.Fail(t.Name, gpu.ErrArgument, fmt.Sprintf("%d elements", b.Len()), fmt.Sprintf("expected %d for %s", t.Len, o.Describe(size)))
		}
		c.Add(t.Name, Vector(b, t.Len), i >= len(inputs), t.Elements())
	}
}

// Run compares the operands with each other and runs the operator.
func (c *Operands) Run(o *Operator, size Size, preferred ...string) error {
	if c.err != nil {
		return c.err
	}
	if x, y, found := overlap(c.regions); found {
		c.Fail(x, gpu.ErrArgument, "it shares elements with "+y, "expected memory of its own: an output is written while the other operands are read")
		return c.err
	}
	return c.runner.Launch(o, size, c.memory, preferred...)
}

// Call runs an operator on buffers of a caller's, by the names of its inputs and outputs. Each
// is dense and has exactly the elements of its tensor at the size.
func Call(runner Runner, o *Operator, size Size, buffers map[string]gpu.Buffer, preferred ...string) error {
	if err := o.CheckSize(size); err != nil {
		return err
	}
	c := NewOperands(runner, o.Name)
	c.AddTensors(o, size, buffers)
	return c.Run(o, size, preferred...)
}

// Elements is the number of a buffer's elements, 0 of none, whose absence a Call reports.
func Elements(b gpu.Buffer) int {
	if b == nil {
		return 0
	}
	return b.Len()
}
