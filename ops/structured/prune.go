// Package structured multiplies matrices with structured sparsity: of each four neighbours
// in a row two are zero (2:4), of each two one (1:2), and only the others are stored, with
// their places. Its main type is Product: a kernel of mma, mma.sp, wgmma or wgmma.sp with
// its operands, in pairs of a dense and a sparse form. Notebook 00 runs them.
package structured

import (
	"cmp"
	"math"
	"slices"
)

// The matrices of a product: A is Rows x Columns before it is pruned, B is Columns x Width.
const (
	Rows    = 16
	Columns = 32
	Width   = 8
)

// Pruned is A with the two numbers of each four that are largest by absolute value.
type Pruned struct {
	Values []float32 // with zeros for the others, row by row
	Kept   []float32 // the numbers that are kept, 16 in a row
	Places []uint32  // by row: two bits for each number that is kept, its place among the four
}

// Prune prunes a matrix of Rows x Columns. Of equal numbers the first ones are kept.
func Prune(full []float32) Pruned {
	p := Pruned{Values: make([]float32, len(full)), Places: make([]uint32, Rows)}
	for four := 0; four < len(full); four += 4 {
		order := []int{0, 1, 2, 3}
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(math.Abs(float64(full[four+j])), math.Abs(float64(full[four+i])))
		})
		two := order[:2]
		slices.Sort(two)
		for _, place := range two {
			row, slot := four/Columns, len(p.Kept)%(Columns/2)
			p.Values[four+place] = full[four+place]
			p.Places[row] |= uint32(place) << (2 * slot)
			p.Kept = append(p.Kept, full[four+place])
		}
	}
	return p
}
