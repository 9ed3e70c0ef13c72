package engine

import (
	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// sparsity is the metadata of a sparse product (mma.sp, wgmma.sp): which k of
// each row of A is stored. A row keeps 2 of 4 elements, or 1 of 2 of tf32. The
// metadata has four bits for each such chunk: two indices of two bits. Some of
// the four lanes that hold a row of D hold the metadata of their rows.
//
// Sources: PTX ISA, sparse matrix storage; the layouts of ELayout in CUTLASS
// (cute/atom/mma_traits_sm90_gmma_sparse.hpp). That mma.sp has the layouts of
// wgmma.sp is assumed. Not compared with a GPU yet.
type sparsity struct {
	of      ptx.Type
	k       int  // of the product: a row of A stores half as many
	ordered bool // the two indices of a chunk ascend, as sp::ordered_metadata demands
	first   int  // lane of four that holds the first metadata
	slot    uint32
}

// keptElements are the k that each of the 16 rows of A stores.
type keptElements [16][32]uint8

// rowBits is the size of a row's metadata.
func (s *sparsity) rowBits() int {
	if s.of == "tf32" {
		return 2 * s.k
	}
	return s.k
}

// sparseOperands binds the metadata at operand i and the selector behind it.
func (lo *lowering) sparseOperands(s *sparsity, i int) error {
	o, holders := lo.operand(i+1), s.rowBits()/16
	if most := uint64(4/holders - 1); o.Kind != ptx.ImmediateOperand || o.Bits > most {
		return lo.malformed("operand %d, expected a constant from 0 to %d: the sparsity selector", i+2, most)
	}
	s.first = int(o.Bits) * holders
	return lo.use(&s.slot, i, "b32")
}

// kept reads the metadata of the warp's 16 rows.
func (s *sparsity) kept(w *warp, in *instr) (*keptElements, bool) {
	if w.block.kept == nil {
		w.block.kept = &keptElements{}
	}
	to, metadata := w.block.kept, lanes[uint32](w, s.slot)
	for row := range 16 {
		for chunk := range s.rowBits() / 4 {
			lane, shift := s.place(row, chunk)
			lane += row%8*4 + s.first
			n := uint8(metadata[lane]>>shift) & 15
			if !s.valid(n) {
				w.fail(in, lane, gpu.ErrArgument, "the sparsity metadata %#x has the bits %04b for chunk %d of row %d, expected %s", metadata[lane], n, chunk, row, s.legal())
				return nil, false
			}
			if s.of == "tf32" {
				to[row][chunk] = uint8(2*chunk) + n>>3 // 1110 names the second element, 0100 the first
				continue
			}
			to[row][2*chunk], to[row][2*chunk+1] = uint8(4*chunk)+n&3, uint8(4*chunk)+n>>2
		}
	}
	return to, true
}

// place is which lane, of those that hold metadata, has the bits of a chunk of a
// row, and where.
func (s *sparsity) place(row, chunk int) (lane, shift int) {
	if s.of.Bytes() == 1 { // a lane has 32 bits of a row
		return row/8 + chunk/8*2, chunk % 8 * 4
	}
	return chunk / 4, row/8*16 + chunk%4*4 // 16 bits of a row and of that 8 rows below
}

// valid reports whether four bits of metadata are defined.
func (s *sparsity) valid(n uint8) bool {
	switch {
	case s.of == "tf32":
		return n == 0b1110 || n == 0b0100
	case s.ordered:
		return n&3 < n>>2
	}
	return n&3 != n>>2
}

// legal names the metadata that valid accepts, for the text of a fault.
func (s *sparsity) legal() string {
	switch {
	case s.of == "tf32":
		return "0100 for the first element or 1110 for the second"
	case s.ordered:
		return "two indices that ascend"
	}
	return "two different indices"
}

// matching copies the elements of a column of B that a row of A stores.
func matching[T any](to, from []T, at []uint8) []T {
	for i := range to {
		to[i] = from[at[i]]
	}
	return to
}
