package races

import "unsafe"

// Pages hold an item for each word or row of memory, in pages that are made as they are
// needed.
type Pages[T any] struct {
	Known map[uint64]*[PageItems]T
	last  *[PageItems]T // the page that was looked at last: most accesses are of it
	at    uint64        // its number
	free  []*[PageItems]T
}

// PageItems is how many words or rows have their items in one piece.
const PageItems = 1024

// keptPages is how many pages wait for the next search.
const keptPages = 64

// NewPages are no pages yet.
func NewPages[T any]() Pages[T] { return Pages[T]{Known: map[uint64]*[PageItems]T{}} }

// Forget drops all cells; some pages wait for the next search.
func (p *Pages[T]) Forget() {
	for _, page := range p.Known {
		if len(p.free) < keptPages {
			clear(page[:])
			p.free = append(p.free, page)
		}
	}
	clear(p.Known)
	p.last = nil
}

// Page is the page with a number; nil if there is none and none is to be added, or there
// is no room for it.
func (p *Pages[T]) Page(number uint64, add bool, room *int64) *[PageItems]T {
	if p.last != nil && p.at == number {
		return p.last
	}
	page := p.Known[number]
	if page == nil {
		bytes := int64(unsafe.Sizeof(*page))
		if !add || *room < bytes {
			return nil
		}
		*room -= bytes
		if n := len(p.free); n > 0 {
			page, p.free = p.free[n-1], p.free[:n-1]
		} else {
			page = new([PageItems]T)
		}
		p.Known[number] = page
	}
	p.last, p.at = page, number
	return page
}

// Item is that with a number, nil as for page.
func (p *Pages[T]) Item(number uint64, add bool, room *int64) *T {
	page := p.Page(number/PageItems, add, room)
	if page == nil {
		return nil
	}
	return &page[number%PageItems]
}

// Each visits all items of all pages, in no order.
func (p *Pages[T]) Each(visit func(number uint64, item *T)) {
	for number, page := range p.Known {
		for i := range page {
			visit(number*PageItems+uint64(i), &page[i])
		}
	}
}
