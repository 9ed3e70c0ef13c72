package display

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/messages"
)

// grid is a table as it is drawn: cells of text, ready to be laid out. Rows
// may be shorter than columns; further cells have no heading.
type grid struct {
	title   string
	columns []string
	rows    [][]string
	notes   []string
	whole   bool // a picture: not split, however wide
}

// Limits of a drawn table. Its record always has every row.
const (
	maxRows      = 400 // of a longer table the first and last half
	maxCellWidth = 60  // columns of plain text; longer cells go on below
)

func gridOf(t tabler) grid {
	var g grid
	g.columns, g.rows = t.Table()
	if t, ok := t.(titler); ok {
		g.title = t.Title()
	}
	if t, ok := t.(noter); ok {
		g.notes = t.Notes()
	}
	return g.shortened()
}

// shortened returns g without the rows that are too many.
func (g grid) shortened() grid {
	n := len(g.rows)
	if n <= maxRows {
		return g
	}
	rows := make([][]string, 0, maxRows+1)
	rows = append(rows, g.rows[:maxRows/2]...)
	rows = append(rows, []string{fmt.Sprintf("… %d more rows", n-maxRows)})
	g.rows = append(rows, g.rows[n-maxRows/2:]...)
	return g
}

func (g grid) bundle() map[string]any {
	return map[string]any{textPlain: g.text(), textHTML: g.html()}
}

func (g grid) width() int {
	n := len(g.columns)
	for _, row := range g.rows {
		n = max(n, len(row))
	}
	return n
}

// number matches an optional sign, a number, an optional unit, and an optional remark in
// brackets: cells that a reader compares by their digits.
var number = lazyregexp.New(`^[~<>≤≥±]?\s?[-+−]?(\d[\d ,_]*(\.\d+)?([eE][-+]?\d+)?|Inf|NaN)(\s?(%|×|[a-zA-Zµ°/]{1,8}))?( \([^()]{1,16}\))?$`)

func isNumber(text string) bool { return number().MatchString(strings.TrimSpace(text)) }

// remarkWidth is the width of the remark behind a number, with its blank: of "12 (0.5x)" 7.
func remarkWidth(cell string) int {
	if at := strings.LastIndex(cell, " ("); at >= 0 && strings.HasSuffix(cell, ")") {
		return textWidth(cell[at:])
	}
	return 0
}

// remarkWidths are the widths of the longest remarks of columns of numbers, 0 elsewhere: room
// behind shorter remarks keeps the digits of a column below each other.
func (g grid) remarkWidths(numeric []bool) []int {
	widths := make([]int, len(numeric))
	for _, row := range g.rows {
		for i, cell := range row {
			if numeric[i] && verdictColors[cell] == "" {
				widths[i] = max(widths[i], remarkWidth(cell))
			}
		}
	}
	return widths
}

// numeric reports for each column whether it holds numbers and is aligned to the
// right. Blank cells, dashes and verdicts do not count.
func (g grid) numeric() []bool {
	numeric := make([]bool, g.width())
	for i := range numeric {
		count := 0
		for _, row := range g.rows {
			if i >= len(row) || strings.Trim(row[i], " -–—…") == "" || verdictColors[row[i]] != "" {
				continue
			}
			if !isNumber(row[i]) {
				count = -1
				break
			}
			count++
		}
		numeric[i] = count > 0
	}
	return numeric
}

// text lays the table out for a fixed-width font, in parts if it is wide.
func (g grid) text() string {
	var b strings.Builder
	if g.title != "" {
		b.WriteString(messages.Text(g.title) + "\n\n")
	}
	_, widths := g.lines(false)
	tight := sum(widths)+len(widths)*len(gap) > pageWidth
	if tight {
		_, widths = g.lines(true)
	}
	for i := range widths {
		widths[i] += len(gap)
	}
	for i, part := range g.split(widths) {
		if i > 0 {
			b.WriteString("\n")
		}
		part.textTable(&b, tight)
	}
	if len(g.notes) > 0 {
		b.WriteString("\n" + strings.Join(messages.Texts(g.notes), "\n"))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (g grid) textTable(b *strings.Builder, tight bool) {
	numeric := g.numeric()
	rows, widths := g.lines(tight)
	for i, cells := range rows {
		writeRow(b, cells, widths, numeric)
		if i == 0 {
			writeRule(b, widths)
		}
	}
}

// lines are the lines of each cell, the first row the headings, and the widths of
// the columns. Tight headings are no wider than they must be.
func (g grid) lines(tight bool) (rows [][][]string, widths []int) {
	numeric := g.numeric()
	g = g.translated()
	remarks := g.remarkWidths(numeric)
	widths = make([]int, g.width())
	rows = make([][][]string, 1, 1+len(g.rows))
	for _, row := range g.rows {
		cells := make([][]string, len(widths))
		for i, cell := range row {
			cells[i] = wrapCell(cell, maxCellWidth)
			if room := remarks[i] - remarkWidth(cell); room > 0 && len(cells[i]) == 1 {
				cells[i][0] += strings.Repeat(" ", room)
			}
			for _, line := range cells[i] {
				widths[i] = max(widths[i], textWidth(line))
			}
		}
		rows = append(rows, cells)
	}
	headings, height := make([][]string, len(widths)), 0
	for i, name := range g.columns {
		limit := maxCellWidth
		if tight {
			limit = widths[i]
			for _, word := range strings.Fields(name) {
				limit = min(max(limit, textWidth(word)), maxCellWidth)
			}
		}
		headings[i] = wrapCell(name, limit)
		for _, line := range headings[i] {
			widths[i] = max(widths[i], textWidth(line))
		}
		height = max(height, len(headings[i]))
	}
	for i, lines := range headings { // they stand on the rule
		headings[i] = append(make([]string, height-len(lines)), lines...)
	}
	rows[0] = headings
	return rows, widths
}

const gap = "  " // between columns

func writeRow(b *strings.Builder, cells [][]string, widths []int, numeric []bool) {
	height := 1
	for _, lines := range cells {
		height = max(height, len(lines))
	}
	for y := range height {
		var line strings.Builder
		for i, lines := range cells {
			cell := ""
			if y < len(lines) {
				cell = lines[y]
			}
			pad := strings.Repeat(" ", widths[i]-textWidth(cell))
			if numeric[i] {
				line.WriteString(pad + cell + gap)
			} else {
				line.WriteString(cell + pad + gap)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func writeRule(b *strings.Builder, widths []int) {
	rules := make([]string, len(widths))
	for i, w := range widths {
		rules[i] = strings.Repeat("─", w)
	}
	b.WriteString(strings.Join(rules, gap) + "\n")
}

// wrapCell splits a cell into lines of at most some width, between words where
// there are any.
func wrapCell(s string, width int) []string {
	var lines []string
	for _, line := range strings.Split(s, "\n") {
		line = strings.ReplaceAll(strings.TrimRight(line, " \r"), "\t", "    ")
		for textWidth(line) > width {
			at := breakAt(line, width)
			lines = append(lines, strings.TrimRight(line[:at], " "))
			line = strings.TrimLeft(line[at:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// breakAt returns the byte offset at which a long line is broken: after the last space
// that fits, else at the width.
func breakAt(line string, width int) int {
	columns, space := 0, 0
	for i, r := range line {
		columns += runeWidth(r)
		if columns > width {
			if space > 0 {
				return space
			}
			return i
		}
		if r == ' ' {
			space = i + 1
		}
	}
	return len(line)
}

// textWidth is the number of columns that s takes in a terminal.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	return 1
}
