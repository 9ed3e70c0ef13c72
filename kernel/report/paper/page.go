package paper

import (
	"fmt"
	"net/url"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// The page is A4, in points.
const (
	pageWidth   = 595.28
	pageHeight  = 841.89
	sideMargin  = 46.0
	topMargin   = 40.0
	lowerMargin = 46.0
	textWidth   = pageWidth - 2*sideMargin
	textHeight  = pageHeight - topMargin - lowerMargin
)

// item is a piece of the document that no page ends in: a line, a row, a picture.
type item struct {
	height float64
	draw   func(p *printer, y float64) // nil: nothing; y is the upper edge
	gap    bool                        // space, left out at the top of a page
	keep   bool                        // no page ends after it, if the next fits on one
	repeat []item                      // drawn again where a page ends before it: the head of a table
	anchor string                      // the id of its place
	title  string                      // of a section that starts here, for the outline
	level  int
}

// placed is an item on a page.
type placed struct {
	item
	page int
	y    float64
}

// paginate gives each item a page, from 1 on, and a place.
func paginate(items []item) (list []placed) {
	page, y := 1, topMargin
	for i := 0; i < len(items); {
		end := group(items, i)
		height := 0.0
		for _, it := range items[i:end] {
			height += it.height
		}
		if y+height > topMargin+textHeight && y > topMargin && height <= textHeight {
			page, y = page+1, topMargin
			for _, again := range items[i].repeat {
				list = append(list, placed{again, page, y})
				y += again.height
			}
		}
		for _, it := range items[i:end] {
			if it.gap && y == topMargin {
				continue
			}
			if y+it.height > topMargin+textHeight && y > topMargin {
				page, y = page+1, topMargin
				for _, again := range it.repeat {
					list = append(list, placed{again, page, y})
					y += again.height
				}
				if it.gap {
					continue
				}
			}
			list = append(list, placed{it, page, y})
			y += it.height
		}
		i = end
	}
	return list
}

// group returns the end of the items from i on between which no page ends. A gap
// belongs to the items before it, or it would separate a heading from its text.
func group(items []item, i int) int {
	for i++; i < len(items) && items[i-1].keep; i++ {
	}
	return i
}

// printer draws placed items.
type printer struct {
	pdf     *fpdf.Fpdf
	fonts   *fonts
	anchors map[string]place // the places of the document
	links   map[string]int   // the library's numbers
	page    int
	name    string // below each page
	pages   int
}

type place struct {
	page int
	y    float64
}

func (p *printer) fill(c rgb) { p.pdf.SetFillColor(c.r, c.g, c.b) }

func (p *printer) stroke(c rgb, width float64) {
	p.pdf.SetDrawColor(c.r, c.g, c.b)
	p.pdf.SetLineWidth(width)
}

// link makes a rectangle lead to an address, or to a place of the document.
func (p *printer) link(to string, x, y, w, h float64) {
	if !strings.HasPrefix(to, "#") {
		p.pdf.LinkString(x, y, w, h, to)
		return
	}
	id := idOf(to)
	at, ok := p.anchors[id]
	if !ok {
		return
	}
	number, ok := p.links[id]
	if !ok {
		number = p.pdf.AddLink()
		p.pdf.SetLink(number, at.y, at.page)
		p.links[id] = number
	}
	p.pdf.Link(x, y, w, h, number)
}

// idOf is the id of a link within the page, whose letters may be escaped.
func idOf(href string) string {
	id := strings.TrimPrefix(href, "#")
	if plain, err := url.PathUnescape(id); err == nil {
		return plain
	}
	return id
}

// print draws the items, which are in the order of the pages.
func (p *printer) print(list []placed) {
	var open []int // the levels of the headings around a heading: a page may begin at any
	for _, it := range list {
		for p.page < it.page {
			p.newPage()
		}
		if it.title != "" {
			for len(open) > 0 && open[len(open)-1] >= it.level {
				open = open[:len(open)-1]
			}
			p.pdf.Bookmark(it.title, len(open), it.y)
			open = append(open, it.level)
		}
		if it.draw != nil {
			it.draw(p, it.y)
		}
	}
}

func (p *printer) newPage() {
	p.pdf.AddPage()
	p.page++
	s := style{family: sans, size: 8, color: soft}
	y := pageHeight - lowerMargin/2
	number := fmt.Sprintf("%d / %d", p.page, p.pages)
	p.fonts.write(s, sideMargin, y, p.name)
	p.fonts.write(s, pageWidth-sideMargin-p.fonts.textWidth(s, number), y, number)
}
