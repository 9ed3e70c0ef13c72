package fused

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Apply computes y = (x + bias) (mask != 0) scale + add on buffers of the caller's. The
// bias is added to each row: its length is the number of columns.
//
// Shapes: x, mask, add, y (rows, columns), bias (columns). Types: mask uint8, the others
// all float32 or all float16. y may be x or add, in place; any other overlap of y is
// refused. Error: that of Operator and Half of this package.
func Apply(h ladder.Runner, scale float32, x, bias, mask, add, y gpu.Buffer) error {
	t, n, columns := gpu.Float32, length(x), length(bias)
	if x != nil && x.Type() == gpu.Float16 {
		t = gpu.Float16
	}
	o := of(t, scale)
	c := ladder.NewOperands(h, o.Name)
	rows := 0
	if columns > 0 {
		rows = n / columns
	}
	if bias != nil && x != nil && rows*columns != n {
		c.Fail("x", gpu.ErrArgument, fmt.Sprintf("%d elements", n), fmt.Sprintf("expected whole rows of the %d columns of bias", columns))
	}
	target := ""
	for _, in := range []struct {
		name   string
		buffer gpu.Buffer
	}{{"x", x}, {"add", add}} {
		written := target == "" && same(in.buffer, y)
		c.Add(in.name, ladder.Vector(in.buffer, n), written, t)
		if written {
			target = in.name
		}
	}
	c.Add("bias", ladder.Vector(bias, columns), false, t)
	c.Add("mask", ladder.Vector(mask, n), false, gpu.Uint8)
	if target != "" {
		c.Alias("y", target)
	} else {
		c.Add("y", ladder.Vector(y, n), true, t)
	}
	return c.Run(o, ladder.Size{rows, columns})
}

func length(b gpu.Buffer) int {
	if b == nil {
		return 0
	}
	return b.Len()
}

// same reports whether two buffers start at one place and have one length and type: one
// is written in place of the other.
func same(a, b gpu.Buffer) bool {
	if a == nil || b == nil || a.Len() != b.Len() || a.Type() != b.Type() {
		return false
	}
	at, err := a.Place()
	to, err2 := b.Place()
	return err == nil && err2 == nil && at == to
}
