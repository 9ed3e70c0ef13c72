package matrix

import (
	"fmt"
	"unsafe"

	"warpbook/gpu/ptx"
)

// Sparsity is the metadata of a sparse product (mma.sp, wgmma.sp): which k of
// each row of A is stored. A row keeps 2 of 4 elements, or 1 of 2 of tf32. The
// metadata has four bits for each such chunk: two indices of two bits. Some of
// the four lanes that hold a row of D hold the metadata of their rows.
//
// Sources: PTX ISA, sparse matrix storage; the layouts of ELayout in CUTLASS
// (cute/atom/mma_traits_sm90_gmma_sparse.hpp). That mma.sp has the layouts of
// wgmma.sp is assumed. Not compared with a GPU yet.
type Sparsity struct {
	Of      ptx.Type
	K       int  // of the product: a row of A stores half as many
	Ordered bool // the two indices of a chunk ascend, as sp::ordered_metadata demands
	Slot    uint32
	first   int // lane of four that holds the first metadata
}

// kept are the k that each of the 16 rows of A stores.
type kept [16][32]uint8

// MetadataError is metadata of a lane that is not defined.
type MetadataError struct {
	Lane int
	text string
}

func (e *MetadataError) Error() string { return e.text }

// rowBits is the size of a row's metadata.
func (s *Sparsity) rowBits() int {
	if s.Of == "tf32" {
		return 2 * s.K
	}
	return s.K
}

// MostSelector is the largest sparsity selector.
func (s *Sparsity) MostSelector() uint64 { return uint64(4/(s.rowBits()/16) - 1) }

// Select sets the sparsity selector: which lanes hold the metadata.
func (s *Sparsity) Select(selector uint64) { s.first = int(selector) * s.rowBits() / 16 }

// Keep reads the metadata of the 16 rows of the next product of a warp.
func (u *Unit) Keep(file unsafe.Pointer, s *Sparsity) *MetadataError {
	if u.kept == nil {
		u.kept = &kept{}
	}
	to, metadata := u.kept, slotOf[uint32](file, s.Slot)
	for row := range 16 {
		for chunk := range s.rowBits() / 4 {
			lane, shift := s.place(row, chunk)
			lane += row%8*4 + s.first
			n := uint8(metadata[lane]>>shift) & 15
			if !s.valid(n) {
				return &MetadataError{lane, fmt.Sprintf("the sparsity metadata %#x has the bits %04b for chunk %d of row %d, expected %s", metadata[lane], n, chunk, row, s.legal())}
			}
			if s.Of == "tf32" {
				to[row][chunk] = uint8(2*chunk) + n>>3 // 1110 names the second element, 0100 the first
				continue
			}
			to[row][2*chunk], to[row][2*chunk+1] = uint8(4*chunk)+n&3, uint8(4*chunk)+n>>2
		}
	}
	return nil
}

// place is which lane, of those that hold metadata, has the bits of a chunk of a
// row, and where.
func (s *Sparsity) place(row, chunk int) (lane, shift int) {
	if s.Of.Bytes() == 1 { // a lane has 32 bits of a row
		return row/8 + chunk/8*2, chunk % 8 * 4
	}
	return chunk / 4, row/8*16 + chunk%4*4 // 16 bits of a row and of that 8 rows below
}

// valid reports whether four bits of metadata are defined.
func (s *Sparsity) valid(n uint8) bool {
	switch {
	case s.Of == "tf32":
		return n == 0b1110 || n == 0b0100
	case s.Ordered:
		return n&3 < n>>2
	}
	return n&3 != n>>2
}

// legal names the metadata that valid accepts, for the text of a fault.
func (s *Sparsity) legal() string {
	switch {
	case s.Of == "tf32":
		return "0100 for the first element or 1110 for the second"
	case s.Ordered:
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
