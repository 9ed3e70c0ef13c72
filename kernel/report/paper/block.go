package paper

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The sizes of text in points.
const (
	proseSize = 9.2
	codeSize  = 7.0
	tableSize = 7.2
	leastSize = 6.0 // of a table that is too wide otherwise
)

var headingSizes = map[atom.Atom]float64{atom.H1: 20, atom.H2: 15, atom.H3: 12, atom.H4: 10.5, atom.H5: 10, atom.H6: 9.5}

// The limits of one output that is set; a page has about 70 lines.
const (
	mostLines = 1500
	mostText  = 200_000 // bytes
)

// cutOutputs cuts long outputs before their letters are looked at, and says so.
func cutOutputs(root *html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom != atom.Pre || isSource(n) {
			continue
		}
		lines, size, left := 0, 0, 0
		for t := range n.Descendants() {
			if t.Type != html.TextNode {
				continue
			}
			end := 0
			for end < len(t.Data) && lines < mostLines && size+end < mostText {
				if t.Data[end] == '\n' {
					lines++
				}
				end++
			}
			size += end
			if end < len(t.Data) {
				left += len(t.Data) - end
				t.Data = strings.ToValidUTF8(t.Data[:end], "")
			}
		}
		if left > 0 {
			n.AppendChild(&html.Node{Type: html.TextNode, Data: fmt.Sprintf("\n... %d more bytes are in the HTML report and in the notebook", left)})
		}
	}
}

// layout makes items of the blocks of a page.
type layout struct {
	fonts  *fonts
	items  []item
	anchor string // of the next item

	row  tallRow // that the last figure ends, if it is tall
	tall float64 // width of the picture of a figure, 0 if it is not tall

	summary bool // whether the summary is laid out, on the first page
}

// frame is the space of a block, and the decoration beside it.
type frame struct {
	x, width float64
	style    style
	border   *rgb // a line at the left
	back     *rgb // behind
}

// inset returns the frame with its left and right edge moved in.
func (fr frame) inset(left, right float64) frame {
	fr.x, fr.width = fr.x+left, fr.width-left-right
	return fr
}

func (l *layout) add(it item) {
	if it.anchor == "" && !it.gap {
		it.anchor, l.anchor = l.anchor, ""
	}
	l.items = append(l.items, it)
}

// space adds vertical space, at most once between two blocks.
func (l *layout) space(height float64) {
	if n := len(l.items); n > 0 && l.items[n-1].gap {
		l.items[n-1].height = max(l.items[n-1].height, height)
		return
	}
	keep := len(l.items) > 0 && l.items[len(l.items)-1].keep
	l.add(item{height: height, gap: true, keep: keep})
}

// keepNext keeps the last item on the page of the next.
func (l *layout) keepNext() {
	for i := len(l.items) - 1; i >= 0; i-- {
		l.items[i].keep = true
		if !l.items[i].gap {
			return
		}
	}
}

// blocks lays out the children of a node. Text between blocks is a paragraph.
func (l *layout) blocks(n *html.Node, fr frame) {
	var inline []span
	flush := func() {
		l.paragraph(inline, fr)
		inline = nil
	}
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && isBlock(c) {
			flush()
			l.block(c, fr)
			continue
		}
		inline = append(inline, spansOf(c, fr.style, false)...)
	}
	flush()
}

// isBlock reports an element that starts a line of its own, or contains one that does.
func isBlock(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Header, atom.Footer, atom.Main, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Pre,
		atom.Table, atom.Blockquote, atom.Figure, atom.Figcaption, atom.Details, atom.Hr, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	case atom.Img:
		return strings.HasPrefix(attribute(n, "src"), "data:")
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.DataAtom == atom.Img {
			return true
		}
	}
	return false
}

func (l *layout) block(n *html.Node, fr frame) {
	if id := attribute(n, "id"); id != "" {
		l.anchor = id
	}
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		l.heading(n, fr)
	case atom.P:
		if hasClass(n, "number") || hasClass(n, "label") {
			fr.style.size = tableSize + 0.4
			fr.style.color = soft
			l.space(4)
			l.blocks(n, fr)
			l.space(2)
			l.keepNext()
			return
		}
		l.space(5)
		l.blocks(n, fr)
		if l.before(n, atom.Div) || l.before(n, atom.Table) { // the title of a table
			l.keepNext()
		}
		l.space(5)
	case atom.Figcaption:
		fr.style.size = 8
		l.blocks(n, fr)
		l.keepNext()
	case atom.Ul, atom.Ol:
		l.list(n, fr)
	case atom.Dl:
		l.definitions(n, fr)
	case atom.Pre:
		l.code(n, fr)
	case atom.Table:
		l.table(n, fr)
	case atom.Blockquote:
		fr = fr.inset(12, 0)
		fr.border = &accent
		fr.style.color = soft
		l.space(5)
		l.blocks(n, fr)
		l.space(5)
	case atom.Hr:
		l.space(8)
		l.add(item{height: 1, draw: func(p *printer, y float64) {
			p.stroke(line, 0.7)
			p.pdf.Line(fr.x, y, fr.x+fr.width, y)
		}})
		l.space(8)
	case atom.Img:
		l.picture(n, fr)
	case atom.Figure:
		l.figure(n, fr)
	case atom.Details:
		l.details(n, fr)
	case atom.Section:
		l.space(9)
		l.blocks(n, fr)
		l.space(9)
	case atom.Div:
		l.division(n, fr)
	default:
		l.blocks(n, fr)
	}
}

// division lays out a div of the page, or of an output.
func (l *layout) division(n *html.Node, fr frame) {
	switch {
	case hasClass(n, "prompt"):
		return // the cell's number, which is not part of the content
	case hasClass(n, "error"):
		back, color := failBack, failColor
		if hasClass(n, "expected") {
			back, color = expectedBack, expectedColor
		}
		fr = fr.inset(7, 7)
		fr.back, fr.border = &back, &color
		l.space(5)
		l.blocks(n, fr)
		l.space(5)
	case hasClass(n, "output"):
		l.space(5)
		l.blocks(n, fr)
		l.space(5)
	default:
		l.blocks(n, fr)
	}
}

// before reports whether the element after n is of a kind.
func (l *layout) before(n *html.Node, kind atom.Atom) bool {
	for n = n.NextSibling; n != nil; n = n.NextSibling {
		if n.Type == html.ElementNode {
			return n.DataAtom == kind
		}
	}
	return false
}

func (l *layout) heading(n *html.Node, fr frame) {
	size := headingSizes[n.DataAtom]
	fr.style.size, fr.style.bold = size, true
	l.space(size * 1.1)
	from := len(l.items)
	l.paragraph(spansOf(n, fr.style, false), fr)
	for i := from; i < len(l.items); i++ {
		l.items[i].keep = true
	}
	if from < len(l.items) {
		l.items[from].title = strings.TrimSpace(collapse(textOf(n)))
		l.items[from].level = int(n.Data[1] - '1')
	}
	l.space(size * 0.4)
	l.keepNext()
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// paragraph sets wrapped text. Neither its first nor its last line stands alone on a
// page.
func (l *layout) paragraph(spans []span, fr frame) {
	blank := true
	for _, s := range spans {
		blank = blank && strings.TrimSpace(s.text) == ""
	}
	if blank {
		return
	}
	lines := l.fonts.wrap(l.fonts.words(spans), fr.width)
	height := fr.style.size * 1.36
	for i, ln := range lines {
		l.add(item{
			height: height,
			keep:   i+1 < len(lines) && (i == 0 || i == len(lines)-2),
			draw: func(p *printer, y float64) {
				fr.decorate(p, y, height)
				ln.draw(p, fr.x, y+fr.style.size*1.05)
			},
		})
	}
}

// decorate draws the background and the marks of a piece of a block.
func (fr frame) decorate(p *printer, y, height float64) {
	if fr.back != nil {
		p.fill(*fr.back)
		p.pdf.Rect(fr.x-7, y, fr.width+14, height+0.3, "F")
	}
	if fr.border != nil {
		p.fill(*fr.border)
		p.pdf.Rect(fr.x-9, y, 1.6, height+0.3, "F")
	}
}

func (l *layout) list(n *html.Node, fr frame) {
	number := 1
	fmt.Sscan(attribute(n, "start"), &number) // 1 without one
	l.space(3)
	for c := range n.ChildNodes() {
		if c.DataAtom != atom.Li {
			continue
		}
		mark := "•"
		if n.DataAtom == atom.Ol {
			mark = fmt.Sprintf("%d.", number)
			number++
		}
		from := len(l.items)
		inner := fr.inset(15, 0)
		l.blocks(c, inner)
		for i := from; i < len(l.items); i++ { // beside the first line
			if it := &l.items[i]; !it.gap && it.draw != nil {
				draw := it.draw
				it.draw = func(p *printer, y float64) {
					draw(p, y)
					p.fonts.write(fr.style, fr.x+2, y+fr.style.size*1.05, mark)
				}
				break
			}
		}
		l.space(2)
	}
	l.space(5)
}

// definitions sets names and values, a line each.
func (l *layout) definitions(n *html.Node, fr frame) {
	const names = 110
	fr.style.size = 7.4
	l.space(6)
	for c := range n.Descendants() {
		if c.DataAtom != atom.Dt && c.DataAtom != atom.Dd {
			continue
		}
		if c.DataAtom == atom.Dt {
			name := fr.style
			name.color = soft
			from := len(l.items)
			box := fr
			box.width = names - 6
			l.paragraph(spansOf(c, name, false), box)
			for i := from; i < len(l.items); i++ { // the value stands beside it
				l.items[i].height, l.items[i].keep = 0, true
			}
			continue
		}
		l.paragraph(spansOf(c, fr.style, false), fr.inset(names, 0))
	}
	l.space(6)
}

// details shows a folded part unfolded, because paper cannot be clicked. It leaves out the
// folded code of cells and the numbers of plots, as the page does when it is printed.
func (l *layout) details(n *html.Node, fr frame) {
	if !hasAttribute(n, "open") && (hasClass(n.Parent, "source") || n.Parent.DataAtom == atom.Figure) {
		return
	}
	for c := range n.ChildNodes() {
		if c.DataAtom == atom.Summary {
			s := fr.style
			s.size, s.color = 7.5, soft
			l.space(3)
			inner := fr
			inner.style = s
			l.paragraph(spansOf(c, s, false), inner)
			l.keepNext()
			l.space(1)
			l.keepNext()
			continue
		}
		if c.Type == html.ElementNode && isBlock(c) {
			l.block(c, fr)
		} else {
			small := fr
			small.style.size = 7.5
			l.paragraph(spansOf(c, small.style, false), small)
		}
	}
	l.space(4)
}
