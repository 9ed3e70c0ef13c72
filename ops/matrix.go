package ops

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/gpu"
)

// Matrix is a row-major matrix in device memory: element (i, j) is element
// i*LD + j of the buffer, which may be a view. It has (Rows-1)*LD + Columns
// elements; those between the rows are neither read nor written.
type Matrix struct {
	Buffer        gpu.Buffer
	Rows, Columns int
	LD            int // elements from row to row; 0 for rows without a gap
}

// Batch is so many matrices of one shape, each Stride elements after the one
// before.
type Batch struct {
	Matrix
	Count  int
	Stride int // 0 for matrices without a gap
}

// shape is the matrix without its elements, LD as it counts.
func (x Matrix) shape() matrix {
	return matrix{rows: x.Rows, columns: x.Columns, ld: cmp.Or(x.LD, x.Columns)}
}

// stride is Stride as it counts.
func (x Batch) stride() int {
	return cmp.Or(x.Stride, x.Rows*x.shape().ld)
}

func (x Matrix) String() string { return fmt.Sprintf("%d x %d", x.Rows, x.Columns) }

// vector is a matrix of one row, alone.
func vector(b gpu.Buffer, n int) Batch { return Matrix{Buffer: b, Rows: 1, Columns: n}.one() }

// one is a batch of the matrix alone.
func (x Matrix) one() Batch { return Batch{Matrix: x, Count: 1} }

// add checks an operand by itself and gives the plan, under the operand's name, a
// view of what is used of its buffer, and no more.
func (c *call) add(name string, x Batch, output bool, types ...gpu.Type) {
	view, place, ok := c.check(name, x, types)
	if !ok {
		return
	}
	c.memory[name] = view
	for i := range x.Count {
		part := name
		if x.Count > 1 {
			part = element(name, i)
		}
		c.regions = append(c.regions, x.region(part, place, i*x.stride(), output))
	}
}

func (c *call) check(name string, x Batch, types []gpu.Type) (view gpu.Buffer, place gpu.Place, ok bool) {
	n, ok := c.elements(name, x)
	if !ok {
		return nil, place, false
	}
	place, err := x.Buffer.Place()
	switch {
	case err != nil && c.err == nil:
		c.err = fmt.Errorf("ops: %s: %s: %w", c.name, name, err)
		return nil, place, false
	case place.Device != c.handle.device:
		c.fail(name, gpu.ErrArgument, "a buffer of another device", "expected one of "+c.handle.device.Info().Name)
	case !slices.Contains(types, x.Buffer.Type()):
		c.fail(name, gpu.ErrArgument, "a buffer of "+x.Buffer.Type().String(), "expected "+either(types))
	case x.Buffer.Len() < n:
		c.fail(name, gpu.ErrArgument, fmt.Sprintf("a buffer of %d elements", x.Buffer.Len()), fmt.Sprintf("expected at least %d: %s", n, x.describe()))
	}
	if c.err != nil {
		return nil, place, false
	}
	view, c.err = x.Buffer.View(0, n)
	return view, place, c.err == nil
}

// elements checks the numbers of a batch, and is how many elements it spans.
func (c *call) elements(name string, x Batch) (n int, ok bool) {
	shape := x.shape()
	switch {
	case x.Buffer == nil:
		c.fail(name, gpu.ErrArgument, "no buffer", "expected one of "+c.handle.device.Info().Name)
	case min(x.Rows, x.Columns, x.Count) < 0 || max(x.Rows, x.Columns, x.Count) > math.MaxInt32:
		c.fail(name, gpu.ErrArgument, x.describe(), fmt.Sprintf("expected 0 to %d of each", math.MaxInt32))
	case shape.ld < x.Columns || shape.ld > math.MaxInt32:
		c.fail(name, gpu.ErrArgument, fmt.Sprintf("ld = %d", x.LD), fmt.Sprintf("expected at least its %d columns and at most %d, or 0 for rows without a gap", x.Columns, math.MaxInt32))
	case x.Stride < 0:
		c.fail(name, gpu.ErrArgument, fmt.Sprintf("stride = %d", x.Stride), "expected at least 1, or 0 for matrices without a gap")
	case shape.len() > mostElements || x.Count > 1 && x.stride() > (mostElements-shape.len())/(x.Count-1):
		c.fail(name, gpu.ErrArgument, x.describe(), "expected at most 2^38 elements")
	}
	if c.err != nil || x.Count == 0 || shape.len() == 0 {
		return 0, c.err == nil
	}
	return (x.Count-1)*x.stride() + shape.len(), true
}

// describe is what a batch of one or more spans.
func (x Batch) describe() string {
	text := x.String()
	if x.LD != 0 {
		text += fmt.Sprintf(" with ld = %d", x.LD)
	}
	if x.Count != 1 {
		text = fmt.Sprintf("%d of %s, stride = %d", x.Count, text, x.stride())
	}
	return text
}

// either lists types as "float32, float16 or bfloat16".
func either(types []gpu.Type) string {
	var names []string
	for _, t := range types {
		names = append(names, t.String())
	}
	last := len(names) - 1
	return strings.TrimPrefix(strings.Join(names[:last], ", ")+" or "+names[last], " or ")
}

// region is where the elements of a matrix lie, in bytes of an allocation.
type region struct {
	name         string
	output       bool
	memory       any
	start        int64
	rows         int
	width, pitch int64 // of a row, and from one to the next
}

// region is the place of a matrix that starts so many elements after its buffer.
func (x Matrix) region(name string, place gpu.Place, offset int, output bool) region {
	shape, size := x.shape(), x.Buffer.Type().Bytes()
	r := region{name: name, output: output, memory: place.Memory, start: place.Start + int64(offset*size),
		rows: shape.rows, width: int64(shape.columns * size), pitch: int64(shape.ld * size)}
	switch {
	case r.width == 0:
		r.rows = 0
	case r.width == r.pitch && r.rows > 0:
		r.rows, r.width = 1, int64(r.rows)*r.width
	}
	return r
}

// interval is a range of bytes of a region.
type interval struct {
	start, end int64
	of         *region
}

// span is one interval around all rows.
func (r *region) span() interval {
	return interval{r.start, r.start + int64(r.rows-1)*r.pitch + r.width, r}
}

// mostRows bounds the memory that a comparison by rows takes, 100 MB: beyond, a
// region has what lies between its rows, too.
const mostRows = 1 << 22

// overlap finds an output that shares elements with another operand. What lies
// between the rows of one may belong to the other.
func overlap(regions []region) (output, other string, found bool) {
	places := map[any][]interval{}
	for i := range regions {
		if r := &regions[i]; r.rows > 0 {
			places[r.memory] = append(places[r.memory], r.span())
		}
	}
	for _, spans := range places {
		output, other, found := meeting(spans)
		if found {
			output, other, found = meeting(byRows(spans))
		}
		if found {
			return output, other, true
		}
	}
	return "", "", false
}

// byRows are the rows of regions, if they are not too many.
func byRows(spans []interval) (rows []interval) {
	total := 0
	for _, s := range spans {
		total += s.of.rows
	}
	if total > mostRows {
		return spans
	}
	for _, s := range spans {
		for i := range int64(s.of.rows) {
			start := s.of.start + i*s.of.pitch
			rows = append(rows, interval{start, start + s.of.width, s.of})
		}
	}
	return rows
}

// meeting finds two intervals of different regions that meet, one of an output.
func meeting(x []interval) (output, other string, found bool) {
	slices.SortFunc(x, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	var read, written interval // of all and of outputs, the one so far that reaches furthest
	for _, i := range x {
		switch {
		case written.of != nil && i.start < written.end:
			return written.of.name, i.of.name, true
		case i.of.output && read.of != nil && i.start < read.end:
			return i.of.name, read.of.name, true
		}
		if read.of == nil || i.end > read.end {
			read = i
		}
		if i.of.output && (written.of == nil || i.end > written.end) {
			written = i
		}
	}
	return "", "", false
}
