package mem

import "unsafe"

// PageBytes is the distance that separates the data of two workers: a processor that
// walks through memory prefetches within a page, and would take lines from another one
// that writes them.
const PageBytes = 4096

// Pages are memory pages that hold no other data.
type Pages struct{ free []byte }

// Carve takes space for values without pointers from pages, in whole cache lines.
func Carve[T any](p *Pages, n int) []T {
	const line, least = 64, 4 * PageBytes
	var t T
	bytes := (n*int(unsafe.Sizeof(t)) + line - 1) &^ (line - 1)
	if bytes > len(p.free) {
		room := make([]byte, (max(bytes, least)+2*PageBytes-1)&^(PageBytes-1))
		p.free = room[-uintptr(unsafe.Pointer(&room[0]))&(PageBytes-1):]
		p.free = p.free[:len(p.free)&^(PageBytes-1)]
	}
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p.free))), n)
	p.free = p.free[bytes:]
	return values
}

// Contents carves memory that counts as never written.
func (p *Pages) Contents(bytes int) *Contents {
	return contentsIn(Carve[uint64](p, contentsWords(bytes)), Carve[uint32](p, writtenWords(bytes)), bytes)
}
