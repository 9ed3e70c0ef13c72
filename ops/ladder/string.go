package ladder

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
	if settings := o.Settings(); settings != "" {
		name += ", " + settings
	}
	return fmt.Sprintf("%s(%s): %s, variants %s", name, strings.Join(o.Dims, ", "), o.Formula, strings.Join(names, ", "))
}

// String is the rung with its change and its requirements.
func (v Variant) String() string {
	text := v.Name + ": " + v.Adds
	if v.Needs != (gpu.Compute{}) {
		text += fmt.Sprintf(" (needs %v)", v.Needs)
	}
	return text
}

// String is the tensor's name, elements and type on the device.
func (t Tensor) String() string {
	return fmt.Sprintf("%s: %d %v", t.Name, t.Len, t.Elements())
}
