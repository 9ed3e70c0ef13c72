package ladder

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

// Pitch is the number of elements from row to row: LD as it counts.
func (x Matrix) Pitch() int { return cmp.Or(x.LD, x.Columns) }

// Span is the least number of elements that holds the matrix: its last row ends
// with its last column.
func (x Matrix) Span() int {
	if x.Rows == 0 || x.Columns == 0 {
		return 0
	}
	return (x.Rows-1)*x.Pitch() + x.Columns
}

// Step is the number of elements from matrix to matrix: Stride as it counts.
func (x Batch) Step() int {
	return cmp.Or(x.Stride, x.Rows*x.Pitch())
}

// String is the matrix's shape.
func (x Matrix) String() string { return fmt.Sprintf("%d x %d", x.Rows, x.Columns) }

// Vector is a matrix of one row, alone.
func Vector(b gpu.Buffer, n int) Batch { return Matrix{Buffer: b, Rows: 1, Columns: n}.One() }

// One is a batch of the matrix alone.
func (x Matrix) One() Batch { return Batch{Matrix: x, Count: 1} }

// Add checks an operand by itself and gives the plan, under the operand's name, a
// view of exactly the used part of its buffer.
func (c *Operands) Add(name string, x Batch, output bool, types ...gpu.Type) {
	view, place, ok := c.check(name, x, types)
	if !ok {
		return
	}
	c.memory[name] = view
	for i := range x.Count {
		part := name
		if x.Count > 1 {
			part = Element(name, i)
		}
		c.regions = append(c.regions, x.region(part, place, i*x.Step(), output))
	}
}

func (c *Operands) check(name string, x Batch, types []gpu.Type) (view gpu.Buffer, place gpu.Place, ok bool) {
	n, ok := c.elements(name, x)
	if !ok {
		return nil, place, false
	}
	place, err := x.Buffer.Place()
	switch {
	case err != nil && c.err == nil:
		c.err = fmt.Errorf("ops: %s: %s: %w", c.name, name, err)
		return nil, place, false
	case place.Device != c.runner.Device():
		c.Fail(name, gpu.ErrArgument, "a buffer of another device", "expected one of "+c.runner.Device().Info().Name)
	case !slices.Contains(types, x.Buffer.Type()):
		c.Fail(name, gpu.ErrArgument, "a buffer of "+x.Buffer.Type().String(), "expected "+either(types))
	case x.Buffer.Len() < n:
		c.Fail(name, gpu.ErrArgument, fmt.Sprintf("a buffer of %d elements", x.Buffer.Len()), fmt.Sprintf("expected at least %d: %s", n, x.Describe()))
	}
	if c.err != nil {
		return nil, place, false
	}
	view, c.err = x.Buffer.View(0, n)
	return view, place, c.err == nil
}

// elements checks the numbers of a batch, and is how many elements it spans.
func (c *Operands) elements(name string, x Batch) (n int, ok bool) {
	switch {
	case x.Buffer == nil:
		c.Fail(name, gpu.ErrArgument, "no buffer", "expected one of "+c.runner.Device().Info().Name)
	case min(x.Rows, x.Columns, x.Count) < 0 || max(x.Rows, x.Count) > math.MaxInt32 || x.Columns > math.MaxInt32 && !x.vector():
		c.Fail(name, gpu.ErrArgument, x.Describe(), fmt.Sprintf("expected 0 to %d of each", math.MaxInt32))
	case x.Pitch() < x.Columns || x.Pitch() > math.MaxInt32 && !x.vector():
		c.Fail(name, gpu.ErrArgument, fmt.Sprintf("ld = %d", x.LD), fmt.Sprintf("expected at least its %d columns and at most %d, or 0 for rows without a gap", x.Columns, math.MaxInt32))
	case x.Stride < 0:
		c.Fail(name, gpu.ErrArgument, fmt.Sprintf("stride = %d", x.Stride), "expected at least 1, or 0 for matrices without a gap")
	case x.Span() > MostElements || x.Count > 1 && x.Step() > (MostElements-x.Span())/(x.Count-1):
		c.Fail(name, gpu.ErrArgument, x.Describe(), "expected at most 2^38 elements")
	}
	if c.err != nil || x.Count == 0 || x.Span() == 0 {
		return 0, c.err == nil
	}
	return (x.Count-1)*x.Step() + x.Span(), true
}

// vector reports whether it is one row: as long as MostElements, because only dimensions of
// matrices are int32 on the device.
func (x Batch) vector() bool { return x.Rows == 1 && x.Count == 1 && x.LD == 0 }

// Describe is the span of a batch of one or more.
func (x Batch) Describe() string {
	text := x.String()
	if x.LD != 0 {
		text += fmt.Sprintf(" with ld = %d", x.LD)
	}
	if x.Count != 1 {
		text = fmt.Sprintf("%d of %s, stride = %d", x.Count, text, x.Step())
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
	size := x.Buffer.Type().Bytes()
	r := region{name: name, output: output, memory: place.Memory, start: place.Start + int64(offset*size),
		rows: x.Rows, width: int64(x.Columns * size), pitch: int64(x.Pitch() * size)}
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

// MostElements of one operand keep every grid and offset in range: 1 TiB.
const MostElements = 1 << 38

// Element is the name of the i-th of several operands.
func Element(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
