// Package paper lays out the page of a report as a PDF: A4, a title with the badges, the
// contents with page numbers, then the cells. Its main function is Write; package
// report calls it with the page that it also writes as HTML, so both have the same
// content. It knows no notebook, and must import neither report nor nbformat.
//
// Layout has two steps. The elements of the page become a list of items with heights,
// such as a line or a row; then each item gets a page. An item says whether a page may
// end after it. So the page numbers of the contents are known before anything is drawn.
//
// Not in the PDF: tags for screen readers, and outputs beyond 1 500 lines. The HTML has
// both.
package paper

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Write writes the page as a PDF. The page is that of package report, whose content is
// sanitised. It returns the characters that no font at hand has; a Chinese one is an
// error.
func Write(w io.Writer, page string) (missing []rune, err error) {
	defer func() {
		if r := recover(); r != nil { // of the library, which panics on odd fonts and pictures
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, err
	}
	cutOutputs(root)
	parts := find(root)
	pdf := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: pageWidth, Ht: pageHeight}})
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetCatalogSort(true)
	pdf.SetTitle(parts.title, true)
	pdf.SetCreator("warpbook", true)
	pdf.SetLang(parts.language)
	fonts, err := newFonts(pdf, textOf(root))
	if err != nil {
		return nil, err
	}
	p := &printer{pdf: pdf, fonts: fonts, anchors: map[string]place{}, links: map[string]int{}, name: parts.name}
	body := layoutFront(fonts, parts)
	base := frame{x: sideMargin, width: textWidth, style: style{family: sans, size: proseSize, color: ink}}
	dropTitle(parts)
	for _, n := range parts.cells {
		body.block(n, base)
	}
	pages := paginate(body.items)
	for _, it := range pages {
		p.pages = it.page
		if it.anchor != "" {
			p.anchors[it.anchor] = place{it.page, it.y}
		}
	}
	p.print(pages)
	if err := pdf.Error(); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(fonts.missing)), pdf.Output(w)
}

// parts are the elements of the page.
type parts struct {
	title, name, language string
	contentsTitle         string
	contents              []*html.Node // links
	header, summary       *html.Node
	cells                 []*html.Node // and the footer
}

func find(root *html.Node) parts {
	var p parts
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Html:
			p.language = attribute(n, "lang")
		case n.DataAtom == atom.Title:
			p.title = textOf(n)
		case n.DataAtom == atom.Nav:
			p.contentsTitle = attribute(n, "aria-label")
			for d := range n.Descendants() {
				if d.DataAtom == atom.A {
					p.contents = append(p.contents, d)
				}
			}
		case n.DataAtom == atom.Main:
			for c := range n.ChildNodes() {
				switch c.DataAtom {
				case atom.Header:
					p.header = c
				case atom.Div:
					if hasClass(c, "summary") {
						p.summary = c
					}
				case atom.Section, atom.Footer:
					p.cells = append(p.cells, c)
				}
			}
		}
	}
	if p.header != nil {
		for n := range p.header.Descendants() {
			if hasClass(n, "name") {
				p.name = textOf(n)
			}
		}
	}
	return p
}

// dropTitle removes the title from the first cell: it stands on the first page.
func dropTitle(p parts) {
	if len(p.cells) == 0 {
		return
	}
	for n := range p.cells[0].Descendants() {
		if n.DataAtom == atom.H1 && strings.TrimSpace(textOf(n)) == strings.TrimSpace(p.title) {
			n.Parent.RemoveChild(n)
			return
		}
	}
}

// layoutFront lays out the title, the badges, the summary and the contents.
func layoutFront(f *fonts, p parts) *layout {
	l := &layout{fonts: f}
	base := frame{x: sideMargin, width: textWidth, style: style{family: sans, size: proseSize, color: ink}}
	title := base
	title.style.size, title.style.bold = 24, true
	l.add(item{height: 26})
	l.paragraph([]span{{title.style, p.title}}, title)
	l.space(6)
	name := base
	name.style.family, name.style.size, name.style.color = mono, 9, soft
	l.paragraph([]span{{name.style, p.name}}, name)
	l.space(10)
	if p.header != nil {
		l.badges(p.header, base)
	}
	if p.summary != nil {
		l.summary = true
		l.blocks(p.summary, base)
		l.summary = false
	}
	l.space(22)
	if len(p.contents) == 0 {
		return l
	}
	heading := base
	heading.style.size, heading.style.bold = 12, true
	l.paragraph([]span{{heading.style, p.contentsTitle}}, heading)
	l.keepNext()
	l.space(6)
	l.contentsLines(p.contents, base)
	l.space(22)
	return l
}

// backs are the backgrounds of badges.
var backs = map[string]rgb{"pass": passBack, "fail": failBack, "expected": expectedBack, "recorded": expectedBack}

// badges sets the results, a line each.
func (l *layout) badges(header *html.Node, fr frame) {
	for n := range header.ChildNodes() {
		class := ""
		for name := range backs {
			if hasClass(n, name) {
				class = name
			}
		}
		if class == "" {
			continue
		}
		inner := fr.inset(7, 7)
		back := backs[class]
		inner.back = &back
		inner.style.bold, inner.style.color = true, classColors[class]
		l.paragraph(spansOf(n, inner.style, false), inner)
		l.space(4)
	}
}

// contentsInOneColumn is how many lines of contents stand in one column.
const contentsInOneColumn = 12

// contentsLines sets the contents, in two columns where they are many.
func (l *layout) contentsLines(links []*html.Node, fr frame) {
	if len(links) <= contentsInOneColumn {
		for _, a := range links {
			l.add(l.contentsLine(a, fr))
		}
		return
	}
	const gap = 24
	left, right := fr.inset(0, (fr.width+gap)/2), fr.inset((fr.width+gap)/2, 0)
	rows := (len(links) + 1) / 2
	for i, a := range links[:rows] {
		row := l.contentsLine(a, left)
		if i+rows < len(links) {
			beside := l.contentsLine(links[i+rows], right)
			draw := row.draw
			row.height = max(row.height, beside.height)
			row.draw = func(p *printer, y float64) { draw(p, y); beside.draw(p, y) }
		}
		l.add(row)
	}
}

// contentsLine is an entry of the contents, with dots to the page number.
func (l *layout) contentsLine(a *html.Node, fr frame) item {
	const lineHeight = 13.4
	id := idOf(attribute(a, "href"))
	level := strings.TrimPrefix(attribute(a.Parent, "class"), "level-")
	indent := 0.0
	for _, deep := range []string{"3", "4", "5", "6"} {
		if level >= deep {
			indent += 12
		}
	}
	s := fr.style
	s.size = 9
	lines := l.fonts.wrap(l.fonts.words([]span{{s, collapse(textOf(a))}}), fr.width-indent-36)
	return item{height: lineHeight * float64(len(lines)), draw: func(p *printer, y float64) {
		x, base := fr.x+indent, y+9.5
		for i, ln := range lines {
			ln.draw(p, x, base+lineHeight*float64(i))
		}
		at, ok := p.anchors[id]
		if !ok || len(lines) == 0 {
			return
		}
		last := len(lines) - 1
		base += lineHeight * float64(last)
		number := fmt.Sprint(at.page)
		right := fr.x + fr.width - p.fonts.textWidth(s, number)
		p.fonts.write(s, right, base, number)
		dots := s
		dots.color = ruleColor
		for d := right - 8; d > x+lines[last].width+6; d -= 5 {
			p.fonts.write(dots, d, base, ".")
		}
		p.link(attribute(a, "href"), x, y, fr.x+fr.width-x, lineHeight*float64(len(lines)))
	}}
}
