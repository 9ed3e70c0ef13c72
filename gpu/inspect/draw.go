package inspect

import (
	"fmt"
	"html"
	"strings"
)

// The sizes of a picture, in pixels.
const (
	cellWidth  = 34
	cellHeight = 15
	leftOf     = 70
	topOf      = 24
)

// mostRows is how many rows of 32 words, or of 32 threads, a picture has per variable.
const mostRows = 32

// colours are those of the warps, one after the other.
var colours = []string{"#cfe3f7", "#fbdcc0", "#d5ecc9", "#efd3ea", "#f6ecb5", "#cdebe7", "#e3d9f3", "#f4cfcf"}

const empty = "#ffffff"

// cell is one field of a picture.
type cell struct {
	text, title, colour string
	marked              bool
}

// table is a picture of 32 columns.
type table struct {
	title, columns string
	rows           []row
	left           int // rows that are left out
}

type row struct {
	name  string
	cells []cell
}

// tables are the arrays of shared memory, banks across, and the variables, lanes across.
func (s *State) tables() (list []table) {
	for _, a := range s.Shared {
		t := table{title: fmt.Sprintf("%s, %s, in shared memory", a.Name, a.Type), columns: "bank"}
		r := row{}
		for i, w := range a.Words {
			if i == 0 || a.Bank(i) == 0 {
				r = t.begin(r, fmt.Sprintf("+%d B", a.Offset+4*i))
				for range a.Bank(i) { // the array begins inside of a row
					r.cells = append(r.cells, cell{colour: "none"})
				}
			}
			r.cells = append(r.cells, s.word(a, i, w))
		}
		t.begin(r, "")
		list = append(list, t.cut())
	}
	for _, v := range s.Values {
		t := table{title: fmt.Sprintf("%s, %s, of each thread", v.Name, v.Type), columns: "lane"}
		r := row{}
		for i, text := range v.Threads {
			if i%32 == 0 {
				r = t.begin(r, fmt.Sprintf("warp %d", i/32))
			}
			c := cell{text: text, title: fmt.Sprintf("thread %d: %s = %s", i, v.Name, text), colour: colours[i/32%len(colours)]}
			if text == "" {
				c = cell{title: fmt.Sprintf("thread %d has no %s", i, v.Name), colour: empty}
			}
			r.cells = append(r.cells, c)
		}
		t.begin(r, "")
		list = append(list, t.cut())
	}
	return list
}

// begin adds a row that is complete, and returns a new one.
func (t *table) begin(r row, name string) row {
	if len(r.cells) > 0 {
		t.rows = append(t.rows, r)
	}
	return row{name: name}
}

func (t table) cut() table {
	t.left = max(0, len(t.rows)-mostRows)
	t.rows = t.rows[:min(len(t.rows), mostRows)]
	return t
}

// word is a field of shared memory.
func (s *State) word(a Array, i int, w Word) cell {
	c := cell{text: w.Text, colour: empty, marked: w.Writers > 1}
	c.title = fmt.Sprintf("%s, word %d, bank %d: ", a.Name, i, a.Bank(i))
	switch {
	case !w.Written:
		c.title += "not written"
	case w.Line == 0:
		c.title += w.Text + ", written by no single thread"
		c.colour = "#e4e4e4"
	default:
		c.title += fmt.Sprintf("%s, written by thread %v at line %d", w.Text, w.Thread, w.Line)
		if w.Writers > 1 {
			c.title += fmt.Sprintf(", the last of %d threads", w.Writers)
		}
		number := w.Thread.X + s.Size.X*(w.Thread.Y+s.Size.Y*w.Thread.Z)
		c.colour = colours[number/32%len(colours)]
	}
	return c
}

// heading says which block it is and why it ended.
func (s *State) heading() string {
	text := fmt.Sprintf("%s, block %v of %d threads", s.Kernel, s.Block, s.Size.Size())
	if s.Fault != nil {
		return text + ", at its fault: " + s.Fault.Error()
	}
	return text + ", at its end"
}

// String lists the same as the picture, for readers without pictures.
func (s *State) String() string {
	var b strings.Builder
	b.WriteString(s.heading())
	for _, t := range s.tables() {
		fmt.Fprintf(&b, "\n%s:", t.title)
		for _, r := range t.rows {
			var parts []string
			for i := 0; i < len(r.cells); {
				j := i
				for j+1 < len(r.cells) && r.cells[j+1].text == r.cells[i].text {
					j++
				}
				name := fmt.Sprint(i)
				if j > i {
					name += fmt.Sprintf("-%d", j)
				}
				if text := r.cells[i].text; text != "" {
					parts = append(parts, name+": "+text)
				}
				i = j + 1
			}
			fmt.Fprintf(&b, "\n  %s  %s %s", r.name, t.columns, strings.Join(parts, ", "))
		}
		if t.left > 0 {
			fmt.Fprintf(&b, "\n  and %d rows", t.left)
		}
	}
	return b.String()
}

// MIMEBundle is the picture as SVG without a script, and as text.
func (s *State) MIMEBundle() (data, metadata map[string]any) {
	return map[string]any{"text/plain": s.String(), "image/svg+xml": s.svg()}, map[string]any{}
}

func (s *State) svg() string {
	var b strings.Builder
	y := 18
	tables := s.tables()
	for _, t := range tables {
		fmt.Fprintf(&b, `<text x="4" y="%d" font-weight="bold">%s</text>`, y+topOf, html.EscapeString(t.title))
		y += topOf + 16
		for column := range banks {
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#555">%d</text>`, leftOf+column*cellWidth+cellWidth/2, y, column)
		}
		fmt.Fprintf(&b, `<text x="4" y="%d" fill="#555">%s</text>`, y, t.columns)
		y += 4
		for _, r := range t.rows {
			r.draw(&b, y)
			y += cellHeight
		}
		if t.left > 0 {
			y += cellHeight
			fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#555">and %d rows</text>`, leftOf, y-3, t.left)
		}
	}
	width, height := leftOf+banks*cellWidth+6, y+24
	legend := "Colours: warps. Thick edges: words that several threads have written. White: nothing was written."
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="9">`+
		`<title>%s</title><rect width="100%%" height="100%%" fill="#fff"/><text x="4" y="14" font-size="11">%s</text>%s<text x="4" y="%d" fill="#555">%s</text></svg>`,
		width, height, width, height, html.EscapeString(s.heading()), html.EscapeString(s.heading()), b.String(), height-8, legend)
}

func (r row) draw(b *strings.Builder, y int) {
	fmt.Fprintf(b, `<text x="4" y="%d" fill="#555">%s</text>`, y+11, r.name)
	for i, c := range r.cells {
		if c.colour == "none" {
			continue
		}
		x, edge := leftOf+i*cellWidth, 1
		if c.marked {
			edge = 2
		}
		fmt.Fprintf(b, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="#888" stroke-width="%d"/>`,
			html.EscapeString(c.title), x, y, cellWidth-2, cellHeight-2, c.colour, edge)
		if c.text != "" {
			fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, x+cellWidth/2-1, y+10, html.EscapeString(short(c.text)))
		}
		b.WriteString("</g>")
	}
}

// short is a text that fits into a field; its title has the whole one.
func short(text string) string {
	if runes := []rune(text); len(runes) > 6 {
		return string(runes[:5]) + "…"
	}
	return text
}
