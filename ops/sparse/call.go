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

// TimesDense computes C = A B by a rung of SpMM: b has the matrix's columns as rows and k
// columns, and c its rows and k columns, both float32, row-major and dense. c overlaps no other
// operand. Error: that of SpMM.
func (a *Matrix) TimesDense(h ladder.Runner, k int, b, c gpu.Buffer) error {
	return a.run(h, SpMM, ladder.Size{a.Rows, a.Columns, a.NNZ, k}, map[string]gpu.Buffer{"b": b, "c": c})
}

// run runs an operator whose first inputs are the matrix.
func (a *Matrix) run(h ladder.Runner, o *ladder.Operator, size ladder.Size, buffers map[string]gpu.Buffer) error {
	buffers["offsets"], buffers["columns"], buffers["values"] = a.Offsets, a.Index, a.Values
	return ladder.Call(h, o, size, buffers)
}

// TimesSparse computes C = A B of two square matrices of one size by a rung of SpGEMM: a
// matrix of its own, with rows sorted by column, which the caller closes. It counts first and
// allocates what C needs. It downloads the columns of A and the offsets of B, to refuse
// products that offsets of 32 bits cannot count. Error: that of SpGEMM.
func (a *Matrix) TimesSparse(h ladder.Runner, b *Matrix) (*Matrix, error) {
	if err := a.checkProduct(b); err != nil {
		return nil, err
	}
	n := a.Rows
	c := &Matrix{Rows: n, Columns: n}
	d := h.Device()
	count, err := d.Alloc(gpu.Uint32, 1)
	if err != nil {
		return nil, err
	}
	memory := map[string]gpu.Buffer{"a_offsets": a.Offsets, "a_columns": a.Index, "a_values": a.Values,
		"b_offsets": b.Offsets, "b_columns": b.Index, "b_values": b.Values, "count": count.Label("count")}
	if c.Offsets, err = d.Alloc(gpu.Int32, n+1); err == nil {
		memory["offsets"] = c.Offsets.Label("offsets")
		err = c.multiply(h, ladder.Size{n, b.NNZ, 0}, memory) // room for no entry: it counts
	}
	room := make([]uint32, 1)
	if err == nil {
		err = count.Download(room)
	}
	if c.NNZ = int(room[0]); err == nil && c.NNZ > 0 {
		err = c.multiply(h, ladder.Size{n, b.NNZ, c.NNZ}, memory)
	}
	if err = errors.Join(err, count.Free()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// multiply runs SpGEMM into entries of the matrix, of the size's room, in place of those
// that it has.
func (a *Matrix) multiply(h ladder.Runner, size ladder.Size, memory map[string]gpu.Buffer) (err error) {
	for _, part := range []struct {
		buffer *gpu.Buffer
		name   string
		kind   gpu.Type
	}{{&a.Index, "columns", gpu.Int32}, {&a.Values, "values", gpu.Float32}} {
		if *part.buffer != nil {
			err = errors.Join(err, (*part.buffer).Free())
		}
		b, failed := h.Device().Alloc(part.kind, size[2])
		if *part.buffer = b; failed != nil {
			*part.buffer = nil
			return errors.Join(err, fmt.Errorf("ops: spgemm: %s: %w", part.name, failed))
		}
		memory[part.name] = b.Label(part.name)
	}
	return errors.Join(err, h.Launch(SpGEMM, size, memory))
}

// checkProduct refuses factors that SpGEMM does not take.
func (a *Matrix) checkProduct(b *Matrix) error {
	if b == nil || a.Rows != a.Columns || b.Rows != b.Columns || a.Rows != b.Rows {
		shape := "no matrix"
		if b != nil {
			shape = fmt.Sprintf("%d x %d", b.Rows, b.Columns)
		}
		return fmt.Errorf("ops: spgemm: %d x %d times %s: %w, expected two square matrices of one size: give the smaller one empty rows and columns", a.Rows, a.Columns, shape, gpu.ErrArgument)
	}
	if a.wide() || b.wide() {
		return fmt.Errorf("ops: spgemm: %w: offsets of uint64, expected int32: split the rows of A", gpu.ErrUnsupported)
	}
	index, offsets := make([]int32, a.NNZ), make([]int32, b.Rows+1)
	if err := download([]gpu.Buffer{a.Index, b.Offsets}, index, offsets); err != nil {
		return err
	}
	if n := (CSR{Index: index}).Products(CSR{Offsets: offsets}); n > most {
		return fmt.Errorf("ops: spgemm: %d products: %w, expected at most %d: offsets of C are int32, split the rows of A", n, gpu.ErrArgument, most)
	}
	return nil
}

// ToCOO writes the row of each entry, by a rung of the operator ToCOO: row has as many int32
// as the matrix has entries. Columns and values are the same in COO.
func (a *Matrix) ToCOO(h ladder.Runner, row gpu.Buffer) error {
	if a.wide() {
		return fmt.Errorf("ops: csr_to_coo: %w: offsets of uint64, expected int32", gpu.ErrUnsupported)
	}
	return ladder.Call(h, ToCOO, ladder.Size{a.Rows, a.NNZ}, map[string]gpu.Buffer{"offsets": a.Offsets, "row": row})
}

// OfCOO is a matrix of entries with their rows, by a rung of FromCOO. Rows must rise: sort
// entries in another order by sort.KeysWithValues first. It downloads rows and columns to
// check them. The matrix takes columns and values, which Close frees, and not row.
func OfCOO(h ladder.Runner, rows, columns int, row, index, values gpu.Buffer) (*Matrix, error) {
	size := ladder.Size{rows, ladder.Elements(row)}
	if err := FromCOO.CheckSize(size); err != nil {
		return nil, err
	}
	if row == nil || row.Type() != gpu.Int32 {
		return nil, fmt.Errorf("ops: coo_to_csr: row: %w, expected a buffer of int32", gpu.ErrArgument)
	}
	of := make([]int32, size[1])
	if err := download([]gpu.Buffer{row}, of); err != nil {
		return nil, err
	}
	if err := FromCOO.ValidInputs(size, []ladder.Values{of}); err != nil {
		return nil, err
	}
	offsets, err := h.Device().Alloc(gpu.Int32, rows+1)
	if err != nil {
		return nil, fmt.Errorf("ops: coo_to_csr: offsets: %w", err)
	}
	offsets = offsets.Label("offsets")
	a := (*Matrix)(nil)
	if err = ladder.Call(h, FromCOO, size, map[string]gpu.Buffer{"row": row, "offsets": offsets}); err == nil {
		a, err = OfBuffers(columns, offsets, index, values)
	}
	if err != nil {
		return nil, errors.Join(err, offsets.Free())
	}
	return a, nil
}
