package display

import (
	"slices"
	"strings"
	"unicode"
)

// pageWidth is the width of a table in letters: a cell of JupyterLab has 848 pixels
// in a window of 1280, and a letter 7.5. Horizontal scrolling of a wider table hides
// its row labels.
const pageWidth = 112

// split returns g as one table or, where it is too wide, as several below each
// other, each with the columns that name a row and its share of the others.
// widths are those of the columns, with the space between two.
func (g grid) split(widths []int) []grid {
	keys := g.keys(widths)
	rest := widths[keys:]
	room := pageWidth - sum(widths[:keys])
	if g.whole || sum(rest) <= room || room <= 0 {
		return []grid{g}
	}
	var ends []int
	for n := 2; len(ends) == 0; n++ {
		ends = shares(rest, room, n)
	}
	tables := make([]grid, len(ends))
	from := keys
	for i, end := range ends {
		tables[i] = g.part(keys, from, keys+end)
		from = keys + end
	}
	return tables
}

// keys is how many columns name a row: the first, and a second of text beside it
// if the two leave half of the page.
func (g grid) keys(widths []int) int {
	if len(widths) > 1 && !g.numeric()[1] && sum(widths[:2]) <= pageWidth/2 {
		return 2
	}
	return min(1, len(widths))
}

// shares splits widths into n parts of about equal width and returns their ends. No
// part is wider than room unless it is a single column. It returns nil if n parts are
// too few.
func shares(widths []int, room, n int) (ends []int) {
	total, taken, next := sum(widths), 0, 0
	for i := 1; i <= n && next < len(widths); i++ {
		used := 0
		for ; next < len(widths); next++ {
			w := widths[next]
			if used > 0 && (used+w > room || 2*(taken+used)+w > 2*total*i/n) {
				break
			}
			used += w
		}
		taken += used
		ends = append(ends, next)
	}
	if next < len(widths) {
		return nil
	}
	return ends
}

// part is the table of the first keys columns and those in [from, to).
func (g grid) part(keys, from, to int) grid {
	pick := func(row []string) []string {
		row = append(slices.Clone(row), make([]string, max(0, to-len(row)))...)
		return append(row[:keys:keys], row[from:to]...)
	}
	p := grid{columns: pick(g.columns)}
	for _, row := range g.rows {
		p.rows = append(p.rows, pick(row))
	}
	return p
}

func sum(values []int) (s int) {
	for _, v := range values {
		s += v
	}
	return s
}

// narrowest are the least widths of columns in a browser: of numbers the longest, of
// text the longest word, or the width that sets the text in four lines.
func (g grid) narrowest() []int {
	const (
		padding = 2
		lines   = 4
		most    = 40 // letters a line
	)
	numeric := g.numeric()
	widths := make([]int, len(numeric))
	for i := range widths {
		if i < len(g.columns) {
			widths[i] = longestPiece(g.columns[i])
		}
		for _, row := range g.rows {
			if i >= len(row) {
				continue
			}
			w := textWidth(row[i])
			if !numeric[i] || !isNumber(row[i]) {
				w = max(longestPiece(row[i]), min(w/lines, most))
			}
			widths[i] = max(widths[i], w)
		}
		widths[i] += padding
	}
	return widths
}

// longestPiece is the width of the longest piece of s within which no line ends.
func longestPiece(s string) (longest int) {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '-' || runeWidth(r) == 2 }) {
		for _, piece := range pieces(word, isProse(s)) {
			longest = max(longest, textWidth(piece))
		}
	}
	return longest
}

// isProse reports whether s is more than a name.
func isProse(s string) bool { return strings.ContainsAny(strings.TrimSpace(s), " \n") }

// breakMarks are letters after which a long word of prose, such as a path, may break.
var breakMarks = strings.NewReplacer("_", "_\n", ".", ".\n", ":", ":\n", "/", "/\n", ",", ",\n")

// pieces are the unbreakable parts of a word. A single name is one part.
func pieces(word string, prose bool) []string {
	const long = 16
	if !prose || textWidth(word) < long {
		return []string{word}
	}
	return strings.Split(strings.TrimSuffix(breakMarks.Replace(word), "\n"), "\n")
}
