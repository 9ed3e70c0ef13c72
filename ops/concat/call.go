package concat

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Part is a tensor to join: a buffer and its shape, row-major and dense.
type Part struct {
	Buffer gpu.Buffer
	Shape  []int
}

// Along joins tensors along a dimension into y, on buffers of the caller's: their shapes
// are the same but for that dimension. A batch is one dimension more before the others.
//
// Types: float32. y has the sum of their elements; it overlaps none of them. With two
// tensors the runner's rung of Operator runs, without one concat_evict_last where rows are
// whole vectors of four on Ampere or later, and else concat_reciprocal; with another number
// concat_copies. Error: none.
func Along(h ladder.Runner, dim int, parts []Part, y gpu.Buffer) error {
	c := ladder.NewOperands(h, Operator.Name)
	size := sizeOf(c, dim, parts)
	if err := c.Err(); err != nil {
		return err
	}
	o := of(len(parts))
	if err := o.CheckSize(size); err != nil {
		return err
	}
	for i, p := range parts {
		c.Add(part(i), ladder.Vector(p.Buffer, size[0]*size[1+i]), false, gpu.Float32)
	}
	c.Add("y", ladder.Vector(y, size[0]*width(size)), true, gpu.Float32)
	if len(parts) != 2 {
		return c.Run(o, size)
	}
	if size[1]%4 != 0 || size[2]%4 != 0 { // four loads a vector, in which the hint loses
		return c.Run(o, size, "concat_reciprocal")
	}
	return c.Run(o, size, "concat_evict_last", "concat_reciprocal")
}

// sizeOf gives the shapes as rows: the product of the dimensions before dim, and for each
// part the product of dim and the dimensions after it.
func sizeOf(c *ladder.Operands, dim int, parts []Part) (size ladder.Size) {
	if len(parts) == 0 {
		c.Fail("parts", gpu.ErrArgument, "none", "expected at least one tensor")
		return nil
	}
	first := parts[0].Shape
	if dim < 0 || dim >= len(first) {
		c.Fail("dim", gpu.ErrArgument, fmt.Sprint(dim), fmt.Sprintf("expected 0 to %d, as x0 has %d dimensions", len(first)-1, len(first)))
		return nil
	}
	size = ladder.Size{product(c, "x0", first[:dim])}
	for i, p := range parts {
		if len(p.Shape) != len(first) {
			c.Fail(part(i), gpu.ErrArgument, fmt.Sprintf("%d dimensions", len(p.Shape)), fmt.Sprintf("expected %d, as x0 has", len(first)))
			return nil
		}
		for d, n := range p.Shape {
			if d != dim && n != first[d] {
				c.Fail(part(i), gpu.ErrArgument, fmt.Sprintf("dimension %d is %d", d, n), fmt.Sprintf("expected %d, as x0 has", first[d]))
			}
		}
		size = append(size, product(c, part(i), p.Shape[dim:]))
	}
	return size
}

// product is that of dimensions: a negative one, and a product beyond 32 bits, fail.
func product(c *ladder.Operands, name string, shape []int) int {
	all := 1
	for d, n := range shape {
		switch {
		case n < 0:
			c.Fail(name, gpu.ErrArgument, fmt.Sprintf("a dimension of %d", n), "expected 0 or more")
			return 0
		case n > 0 && all > math.MaxInt32/n:
			c.Fail(name, gpu.ErrArgument, fmt.Sprintf("dimensions %v", shape[:d+1]), fmt.Sprintf("expected a product of at most %d on each side of dim", math.MaxInt32))
			return 0
		}
		all *= n
	}
	return all
}
