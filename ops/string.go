package ops

import (
	"fmt"
	"strings"

	"warpbook/gpu"
)

// What a notebook shows of these values: one line each.

// String is the operator with its formula and its ladder.
func (o *Operator) String() string {
	names := make([]string, len(o.Variants))
	for i, v := range o.Variants {
		names[i] = v.Name
	}
	name := o.Name
	if o.Settings != "" {
		name += ", " + o.Settings
	}
	return fmt.Sprintf("%s(%s): %s, variants %s", name, strings.Join(o.Dims, ", "), o.Formula, strings.Join(names, ", "))
}

// String is the variant with the change that it makes, and what it needs.
func (v Variant) String() string {
	text := v.Name + ": " + v.Adds
	if v.Needs != (gpu.Compute{}) {
		text += fmt.Sprintf(" (needs %v)", v.Needs)
	}
	return text
}

// String is the kernel, its change and how it is launched.
func (r Rung) String() string {
	text := fmt.Sprintf("%v: %s", r.Entry, r.Adds)
	switch {
	case r.Like != "":
		text += " (launched like " + r.Like + ")"
	case r.Plan != nil:
		text += " (launched by its own plan)"
	}
	return text
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

// String is the tensor's name, elements and type on the device.
func (t Tensor) String() string {
	return fmt.Sprintf("%s: %d %v", t.Name, t.Len, t.elements())
}

// String is what the bench measures, and where.
func (b *Bench) String() string {
	dims := make([]string, len(b.size))
	for i, n := range b.size {
		dims[i] = fmt.Sprintf("%s = %d", b.operator.Dims[i], n)
	}
	inputs := fmt.Sprintf("seed %d", b.seed)
	if b.own {
		inputs = "inputs of the caller"
	}
	text := fmt.Sprintf("bench of %s, %s, %s, on %v", b.operator.Name, strings.Join(dims, ", "), inputs, b.device.Info())
	if b.modules == nil {
		text += ", closed"
	}
	return text
}

// String is where the handle runs operators.
func (h *Handle) String() string {
	text := fmt.Sprintf("handle on %v", h.device.Info())
	if h.Variant != "" {
		text += ", variant " + h.Variant
	}
	if h.modules == nil {
		text += ", closed"
	}
	return text
}
