package sparse

import (
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// CSR is a matrix in compressed sparse rows: row r has the entries Offsets[r] to
// Offsets[r+1]-1 of Index and Values, the column and the value of each.
//
// Entries of a row have any order, and equal columns add up. A stored 0 is an entry as
// all others: 0 * NaN is NaN. Elements that are not stored are no terms.
type CSR struct {
	Rows, Columns int
	Offsets       []int32 // Rows + 1
	Index         []int32
	Values        []float32
}

// Check refuses offsets that fall or leave the entries, and columns that the matrix does
// not have.
func (m CSR) Check() error {
	if m.Rows < 0 || m.Columns < 0 || len(m.Offsets) != m.Rows+1 || len(m.Index) != len(m.Values) {
		return fmt.Errorf("ops: sparse: matrix of %d x %d with %d offsets, %d columns and %d values: %w, expected rows + 1 offsets, and a value for each column",
			m.Rows, m.Columns, len(m.Offsets), len(m.Index), len(m.Values), gpu.ErrArgument)
	}
	return named("sparse", checkOffsets("offsets", m.Offsets, len(m.Index)), checkIndices("columns", m.Index, m.Columns))
}

// checkOffsets wants offsets from 0 to nnz that never fall.
func checkOffsets[T int32 | uint64](name string, offsets []T, nnz int) error {
	before := T(0)
	for i, v := range offsets {
		if v < before || i == 0 && v != 0 {
			return fmt.Errorf("%s[%d] = %d: %w, expected %s: offsets begin with 0 and never fall", name, i, v, gpu.ErrArgument, expectedOffset(i, before))
		}
		before = v
	}
	if uint64(before) != uint64(nnz) {
		return fmt.Errorf("%s[%d] = %d: %w, expected %d: the last offset is the number of entries", name, len(offsets)-1, before, gpu.ErrArgument, nnz)
	}
	return nil
}

func expectedOffset[T int32 | uint64](i int, before T) string {
	if i == 0 {
		return "0"
	}
	return fmt.Sprintf("%d or more", before)
}

// checkIndices wants indices from 0 to limit-1.
func checkIndices(name string, index []int32, limit int) error {
	for i, v := range index {
		if limit == 0 {
			return fmt.Errorf("%s[%d] = %d: %w, expected no entries: the matrix is empty", name, i, v, gpu.ErrArgument)
		}
		if v < 0 || int(v) >= limit {
			return fmt.Errorf("%s[%d] = %d: %w, expected 0 to %d", name, i, v, gpu.ErrArgument, limit-1)
		}
	}
	return nil
}

// sumOfTerms judges sums of different lengths, each with the bound of its own.
var sumOfTerms = ladder.Judge{
	OfTerms: true,
	Note: "error and bound are shares of the sum of |terms|; the bound of a sum of k terms is that of rounding, " +
		"k u / (1 - k u) with u = 2^-24, and at most 1e-3; the table shows the largest bound",
	Compare: ladder.SumOfProducts.Compare,
}

// most is the largest number of entries: offsets are int32, and so are indices that a
// step of a loop takes beyond the end.
const most = math.MaxInt32 - 1<<24

// shape refuses entries of a matrix that has no elements.
func shape(operator string) func(ladder.Size) error {
	return func(s ladder.Size) error {
		if nnz := s[2]; nnz > 0 && (s[0] == 0 || s[1] == 0) {
			return fmt.Errorf("ops: %s: nnz = %d: %w, expected 0 for a matrix of %d x %d", operator, nnz, gpu.ErrArgument, s[0], s[1])
		}
		return nil
	}
}

// inputsOf are the tensors of a matrix in CSR.
func inputsOf(rows, columns, nnz int) []ladder.Tensor {
	return []ladder.Tensor{
		{Name: "offsets", Len: rows + 1, Type: gpu.Int32},
		{Name: "columns", Len: nnz, Type: gpu.Int32, High: float64(columns)},
		{Name: "values", Len: nnz},
	}
}

// given is the matrix of the first three inputs.
func given(rows, columns int, inputs []ladder.Values) CSR {
	return CSR{rows, columns, inputs[0].([]int32), inputs[1].([]int32), inputs[2].([]float32)}
}

// checkGiven is Check of the matrix of the first three inputs.
func checkGiven(operator string) func(ladder.Size, []ladder.Values) error {
	return func(s ladder.Size, inputs []ladder.Values) error {
		return named(operator, checkOffsets("offsets", inputs[0].([]int32), s[2]), checkIndices("columns", inputs[1].([]int32), s[1]))
	}
}

// named is the first error, with the name of the operator.
func named(operator string, errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("ops: %s: %w", operator, err)
		}
	}
	return nil
}
