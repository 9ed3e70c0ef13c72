package cute

import "fmt"

// Picture is a layout of two parts as a matrix: the first part down, the second across.
type Picture struct {
	title  string
	layout Layout
	owner  func(offset int) int // the colour of an offset; 0 is none
	legend []string
	label  func(offset int) int
}

// mostCells is the largest picture, in each direction.
const mostCells = 64

// Draw is the picture of a layout of at most two parts: each cell has its offset.
func (l Layout) Draw(title string) (*Picture, error) {
	if l.Rank() > 2 {
		return nil, fmt.Errorf("cute: draw %v: rank %d, expected 1 or 2", l, l.Rank())
	}
	if l.Rank() == 1 {
		l = Join(Layout{Int(1), Int(0)}, l)
	}
	for i := range 2 {
		if n := l.Part(i).Size(); n > mostCells {
			return nil, fmt.Errorf("cute: draw %v: %d cells, expected at most %d in each direction", l, n, mostCells)
		}
	}
	same := func(offset int) int { return offset }
	return &Picture{title: title, layout: l, owner: func(int) int { return 0 }, label: same}, nil
}

// Color colours each cell by its offset: level 0 is no colour, others are in the legend.
func (p *Picture) Color(level func(offset int) int, legend ...string) *Picture {
	p.owner, p.legend = level, legend
	return p
}

// Label writes another number than the offset into each cell.
func (p *Picture) Label(number func(offset int) int) *Picture {
	p.label = number
	return p
}

// Title stands above the picture.
func (p *Picture) Title() string { return p.title }

// Axes name the columns and the rows.
func (p *Picture) Axes() (columns, rows string) {
	return "column", "row"
}

// Legend names the levels from 1 on.
func (p *Picture) Legend() []string { return p.legend }

// Notes stand below the picture.
func (p *Picture) Notes() []string { return []string{"layout " + p.layout.String()} }

// Cells are the picture.
func (p *Picture) Cells() (columns, rows []string, text [][]string, level [][]int) {
	down, across := p.layout.Part(0).Size(), p.layout.Part(1).Size()
	for j := range across {
		columns = append(columns, fmt.Sprint(j))
	}
	for i := range down {
		rows = append(rows, fmt.Sprint(i))
		var words []string
		var levels []int
		for j := range across {
			offset := p.layout.Part(0).At(i) + p.layout.Part(1).At(j)
			words, levels = append(words, fmt.Sprint(p.label(offset))), append(levels, p.owner(offset))
		}
		text, level = append(text, words), append(level, levels)
	}
	return columns, rows, text, level
}
