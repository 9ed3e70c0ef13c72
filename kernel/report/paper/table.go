package paper

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tableCell is a cell before its columns have widths.
type tableCell struct {
	spans  []span
	words  []word
	right  bool
	center bool
	head   bool
	fail   bool // on red
}

const (
	cellSpace   = 7.0   // between two columns
	longest     = 105.0 // of a text in a column, before the table is set smaller
	mostCells   = 60_000
	mostColumns = 200
)

// table sets a table. Its head is repeated on each page. One that is too wide is set
// smaller, and then in parts below each other that repeat the first column.
func (l *layout) table(n *html.Node, fr frame) {
	for size := tableSize; ; size -= 0.4 {
		rows := l.rowsOf(n, fr.style, size)
		if len(rows) == 0 {
			return
		}
		least, most := l.columnWidths(rows)
		for i := range most { // a long text needs no line of its own
			most[i] = max(least[i], min(most[i], longest))
		}
		if room := fr.width - cellSpace*float64(len(least)-1); sum(most) <= room {
			_, most := l.columnWidths(rows)
			l.setTable(rows, share(least, most, room), fr, size)
			return
		}
		if size-0.4 < leastSize {
			l.setParts(rows, least, most, fr, size)
			return
		}
	}
}

// setParts sets columns below each other where they do not fit side by side, in parts
// of about the same width.
func (l *layout) setParts(rows [][]tableCell, least, most []float64, fr frame, size float64) {
	ends := partEnds(most, fr.width)
	for limit := most[0]; limit < fr.width; limit += 10 {
		if even := partEnds(most, limit); len(even) == len(ends) {
			ends = even
			break
		}
	}
	from := 1
	for _, to := range ends {
		part := make([][]tableCell, len(rows))
		for i, row := range rows {
			part[i] = append(row[:1:1], row[min(from, len(row)):min(to, len(row))]...)
		}
		pick := func(w []float64) []float64 { return append(w[:1:1], w[min(from, len(w)):to]...) }
		l.setTable(part, share(pick(least), pick(most), fr.width-cellSpace*float64(to-from)), fr, size)
		from = to
	}
}

// partEnds are the columns before which parts of a table end. Each part has the first
// column and at least one other, where there is one.
func partEnds(widths []float64, limit float64) (ends []int) {
	for from := 1; ; {
		to, used := from, widths[0]
		for to < len(widths) && (to == from || used+cellSpace+widths[to] <= limit) {
			used += cellSpace + widths[to]
			to++
		}
		ends = append(ends, to)
		if to >= len(widths) {
			return ends
		}
		from = to
	}
}

func (l *layout) rowsOf(table *html.Node, s style, size float64) (rows [][]tableCell) {
	s.size = size
	cells := 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, nil)
		case atom.Td, atom.Th:
			if cells++; len(rows) == 0 || cells > mostCells || len(rows[len(rows)-1]) >= mostColumns {
				continue
			}
			c := tableCell{head: n.DataAtom == atom.Th, fail: hasClass(n, "fail")}
			how := attribute(n, "align") + attribute(n, "style")
			c.right, c.center = strings.Contains(how, "right"), strings.Contains(how, "center")
			st := styleOf(n, s)
			if hasClass(n, "pass") || c.fail || hasClass(n, "expected") {
				st.bold = true
			}
			if c.head {
				st.color = soft
			}
			for d := range n.ChildNodes() {
				c.spans = append(c.spans, spansOf(d, st, false)...)
			}
			c.words = l.fonts.words(c.spans)
			last := len(rows) - 1
			rows[last] = append(rows[last], c)
			for wide, _ := strconv.Atoi(attribute(n, "colspan")); wide > 1 && len(rows[last]) < mostColumns; wide-- {
				rows[last] = append(rows[last], tableCell{})
			}
		}
	}
	kept := rows[:0]
	for _, r := range rows {
		if len(r) > 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// columnWidths are the widths of the longest word and of the longest text of each
// column.
func (l *layout) columnWidths(rows [][]tableCell) (least, most []float64) {
	for _, row := range rows {
		for i, c := range row {
			if i == len(least) {
				least, most = append(least, 0), append(most, 0)
			}
			all := 0.0
			for _, w := range c.words {
				least[i] = max(least[i], w.width)
				all += w.before + w.width
			}
			most[i] = max(most[i], all)
		}
	}
	return least, most
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// share gives each column its width: the whole text's if all have room, else the
// longest word's and a part of what is left, in proportion to what is missing.
func share(least, most []float64, width float64) []float64 {
	if sum(most) <= width {
		return most
	}
	widths := make([]float64, len(least))
	room, missing := width-sum(least), sum(most)-sum(least)
	for i := range widths {
		if room >= 0 {
			widths[i] = least[i] + room*(most[i]-least[i])/missing
		} else {
			widths[i] = least[i] * width / sum(least)
		}
	}
	return widths
}

func (l *layout) setTable(rows [][]tableCell, widths []float64, fr frame, size float64) {
	l.space(3)
	var head []item
	for i, row := range rows {
		it := l.tableRow(row, widths, fr, size)
		isHead := row[0].head && (i == 0 || len(head) == i)
		if isHead {
			it.keep = true
			head = append(head, it)
		} else {
			it.repeat = head
			it.keep = i == len(head) && i+1 < len(rows) || i == len(rows)-2
		}
		l.add(it)
	}
	l.space(5)
}

func (l *layout) tableRow(row []tableCell, widths []float64, fr frame, size float64) item {
	lineHeight := size * 1.32
	lines := make([][]textLine, len(row))
	most := 1
	for i, c := range row {
		lines[i] = l.fonts.wrap(c.words, widths[i]+0.01)
		most = max(most, len(lines[i]))
	}
	height := min(float64(most)*lineHeight+2.8, textHeight)
	head := row[0].head
	return item{height: height, draw: func(p *printer, y float64) {
		x := fr.x
		for i, c := range row {
			if c.fail {
				p.fill(failBack)
				p.pdf.Rect(x-2, y, widths[i]+4, height, "F")
			}
			top := y + 1.4
			if c.head { // stands on the line
				top = y + height - 1.4 - float64(len(lines[i]))*lineHeight
			}
			for j, ln := range lines[i] {
				at := x
				if c.right {
					at = x + widths[i] - ln.width
				} else if c.center {
					at = x + (widths[i]-ln.width)/2
				}
				ln.draw(p, at, top+float64(j)*lineHeight+size*0.98)
			}
			x += widths[i] + cellSpace
		}
		color := line
		if head {
			color = ruleColor
		}
		p.stroke(color, 0.5)
		p.pdf.Line(fr.x, y+height, x-cellSpace, y+height)
	}}
}
