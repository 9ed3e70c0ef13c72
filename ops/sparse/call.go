package sparse

import (
	"errors"
	"fmt"
	"slices"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Matrix is a CSR in device memory. Its indices were checked when it was made: kernels
// read what they point to. Offsets are int32, or uint64 for 2^31 entries and more.
type Matrix struct {
	Rows, Columns, NNZ     int
	Offsets, Index, Values gpu.Buffer
}

// Upload checks a matrix and copies it to a device. Close frees it.
func Upload(d gpu.Device, m CSR) (*Matrix, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	a := &Matrix{Rows: m.Rows, Columns: m.Columns, NNZ: len(m.Index)}
	for _, part := range []struct {
		buffer *gpu.Buffer
		name   string
		kind   gpu.Type
		length int
		values any
	}{{&a.Offsets, "offsets", gpu.Int32, len(m.Offsets), m.Offsets}, {&a.Index, "columns", gpu.Int32, len(m.Index), m.Index}, {&a.Values, "values", gpu.Float32, len(m.Values), m.Values}} {
		b, err := d.Alloc(part.kind, part.length)
		if err == nil {
			*part.buffer = b.Label(part.name)
			err = b.Upload(part.values)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("ops: sparse: upload %s: %w", part.name, err), a.Close())
		}
	}
	return a, nil
}

// wide reports whether offsets have 64 bits.
func (a *Matrix) wide() bool { return a.Offsets != nil && a.Offsets.Type() == gpu.Uint64 }

// Download copies the matrix to the host. One with offsets of 64 bits is refused: a CSR
// has 32.
func (a *Matrix) Download() (CSR, error) {
	if a.wide() {
		return CSR{}, fmt.Errorf("ops: sparse: download: %w: offsets of uint64, expected int32: download the buffers", gpu.ErrUnsupported)
	}
	m := CSR{a.Rows, a.Columns, make([]int32, a.Rows+1), make([]int32, a.NNZ), make([]float32, a.NNZ)}
	if err := download([]gpu.Buffer{a.Offsets, a.Index, a.Values}, m.Offsets, m.Index, m.Values); err != nil {
		return CSR{}, err
	}
	return m, nil
}

// download copies buffers to slices, up to the first error.
func download(buffers []gpu.Buffer, into ...any) error {
	for i, b := range buffers {
		if b == nil {
			return fmt.Errorf("ops: sparse: download: %w: the matrix has no buffers, expected one of Upload or OfBuffers", gpu.ErrArgument)
		}
		if err := b.Download(into[i]); err != nil {
			return fmt.Errorf("ops: sparse: download: %w", err)
		}
	}
	return nil
}

// OfBuffers is a matrix of buffers that a kernel has filled: it downloads offsets and
// columns to check them. Rows are one less than the offsets, which are int32 or uint64.
func OfBuffers(columns int, offsets, index, values gpu.Buffer) (*Matrix, error) {
	for _, b := range []struct {
		name   string
		buffer gpu.Buffer
		kinds  []gpu.Type
		want   string
	}{{"offsets", offsets, []gpu.Type{gpu.Int32, gpu.Uint64}, "int32 or uint64"}, {"columns", index, []gpu.Type{gpu.Int32}, "int32"}, {"values", values, []gpu.Type{gpu.Float32}, "float32"}} {
		if b.buffer == nil {
			return nil, fmt.Errorf("ops: sparse: %s: %w: no buffer, expected one of %s", b.name, gpu.ErrArgument, b.want)
		}
		if !slices.Contains(b.kinds, b.buffer.Type()) {
			return nil, fmt.Errorf("ops: sparse: %s: %w: a buffer of %v, expected %s", b.name, gpu.ErrArgument, b.buffer.Type(), b.want)
		}
	}
	limit := most
	if offsets.Type() == gpu.Uint64 {
		limit = mostWide
	}
	if offsets.Len() < 1 || index.Len() != values.Len() || index.Len() > limit {
		return nil, fmt.Errorf("ops: sparse: %d offsets, %d columns, %d values: %w, expected rows + 1 offsets and a value for each of at most %d columns: offsets are %v, pass uint64 or split the rows",
			offsets.Len(), index.Len(), values.Len(), gpu.ErrArgument, limit, offsets.Type())
	}
	a := &Matrix{Rows: offsets.Len() - 1, Columns: columns, NNZ: index.Len(), Offsets: offsets, Index: index, Values: values}
	if err := a.check(); err != nil {
		return nil, err
	}
	return a, nil
}

// check downloads offsets and columns and checks them.
func (a *Matrix) check() error {
	if !a.wide() {
		m, err := a.Download()
		if err != nil {
			return err
		}
		return m.Check()
	}
	from, columns := make([]uint64, a.Rows+1), make([]int32, a.NNZ)
	if err := download([]gpu.Buffer{a.Offsets, a.Index}, from, columns); err != nil {
		return err
	}
	return named("sparse", checkOffsets("offsets", from, a.NNZ), checkIndices("columns", columns, a.Columns))
}

// Close frees the matrix. It returns the first error of its buffers.
func (a *Matrix) Close() (first error) {
	for _, b := range []gpu.Buffer{a.Offsets, a.Index, a.Values} {
		if b != nil {
			if err := b.Free(); err != nil && first == nil {
				first = fmt.Errorf("ops: sparse: close: %w", err)
			}
		}
	}
	return first
}

// Times computes y = A x on buffers of the caller's, by a rung of SpMV, or of SpMVWide: x has the
// matrix's columns and y its rows, float32. y overlaps no other operand. Error: that of
// SpMV.
func (a *Matrix) Times(h ladder.Runner, x, y gpu.Buffer) error {
	o := SpMV
	if a.wide() {
		o = SpMVWide
	}
	return a.run(h, o, ladder.Size{a.Rows, a.Columns, a.NNZ}, map[string]gpu.Buffer{"x": x, "y": y})
}

// run runs an operator whose first inputs are the matrix.
func (a *Matrix) run(h ladder.Runner, o *ladder.Operator, size ladder.Size, buffers map[string]gpu.Buffer) error {
	if err := o.CheckSize(size); err != nil {
		return err
	}
	c := ladder.NewOperands(h, o.Name)
	buffers["offsets"], buffers["columns"], buffers["values"] = a.Offsets, a.Index, a.Values
	c.AddTensors(o, size, buffers)
	return c.Run(o, size)
}
