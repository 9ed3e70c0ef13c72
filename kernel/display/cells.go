package display

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// CellChart draws a grid of small cells with a word in each, such as the banks
// of shared memory by the lanes of a warp. A value with the methods Cells and
// Axes (and Title, Notes and Legend where it has them) is shown as one.
type CellChart struct {
	Title        string
	XAxis, YAxis string
	Columns      []string
	Rows         []string   // from the top down
	Text         [][]string // by row; of one or two letters
	Level        [][]int    // the colour: that of Legend[Level-1], or none for 0
	Legend       []string
	Notes        []string
}

// celler is a value that Of shows as a CellChart.
type celler interface {
	Cells() (columns, rows []string, text [][]string, level [][]int)
	Axes() (columns, rows string)
}

type legender interface{ Legend() []string }

func chartOf(v celler) (c CellChart) {
	c.Columns, c.Rows, c.Text, c.Level = v.Cells()
	c.XAxis, c.YAxis = v.Axes()
	if t, ok := v.(titler); ok {
		c.Title = t.Title()
	}
	if l, ok := v.(legender); ok {
		c.Legend = l.Legend()
	}
	if n, ok := v.(noter); ok {
		c.Notes = n.Notes()
	}
	return c
}

// MIMEBundle shows the chart's figure, or why there is none.
func (c CellChart) MIMEBundle() (data, metadata map[string]any) { return Of(c) }

func (c CellChart) drawing() (data, metadata map[string]any, err error) { return ofChart(c.Figure()) }

// Sizes of cells. A chart whose texts need wider columns than those of a figure of plotWidth
// is as wide as wideCells; texts that do not fit there either are left out: the colours and
// the numbers below have what they say.
const (
	cellHeight  = 18  // CSS pixels
	wideCells   = 840 // CSS pixels; a cell of JupyterLab has 848 in a window of 1280
	mostLetter  = 12 * px
	leastLetter = 9 * px
	besideCells = 30 * px // the label of the y axis and what lies between it and the cells
)

// Figure makes the chart; its error says which list has the wrong length.
func (c CellChart) Figure() (*Figure, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := newPlot(nil, nil)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.XAxis, c.YAxis
	p.X.Min, p.X.Max = -0.5, float64(len(c.Columns))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(c.Rows))-0.5
	p.X.Padding, p.Y.Padding = 0, 0
	width := plotWidth
	if letterSize(c.widestText(), c.columnWidth(width)) == 0 {
		width = wideCells
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(sparseTicks(c.Columns, c.columnWidth(width))), plot.ConstantTicks(rowNames(c.Rows))
	p.Add(&cells{c})
	f := &Figure{Plot: p, Width: width, Notes: c.Notes, values: "columns: " + c.XAxis + "; rows: " + c.YAxis,
		numbers: c.grid(), dataHeight: cellHeight * len(c.Rows)}
	for i, name := range c.Legend {
		if !slices.ContainsFunc(c.Level, func(row []int) bool { return slices.Contains(row, i+1) }) {
			continue // no cell has this colour
		}
		f.legend = append(f.legend, legendEntry{name: name, color: cellColor(i + 1)})
	}
	return f, nil
}

func (c CellChart) check() error {
	if len(c.Columns) == 0 || len(c.Rows) == 0 || len(c.Text) != len(c.Rows) || len(c.Level) != len(c.Rows) {
		return fmt.Errorf("display: cell chart: %d columns, %d rows, %d rows of text, %d of levels, expected some and the same",
			len(c.Columns), len(c.Rows), len(c.Text), len(c.Level))
	}
	for i := range c.Rows {
		if len(c.Text[i]) != len(c.Columns) || len(c.Level[i]) != len(c.Columns) {
			return fmt.Errorf("display: cell chart: row %d has %d texts and %d levels, expected %d", i, len(c.Text[i]), len(c.Level[i]), len(c.Columns))
		}
	}
	return nil
}

// grid is the chart as text.
func (c CellChart) grid() *grid {
	g := &grid{columns: append([]string{""}, c.Columns...), whole: true}
	for i, name := range c.Rows {
		g.rows = append(g.rows, append([]string{name}, c.Text[i]...))
	}
	return g
}

// widestText is the width of the widest text of a cell at mostLetter.
func (c CellChart) widestText() (widest vg.Length) {
	sty := textStyle(mostLetter, ink)
	for _, row := range c.Text {
		for _, text := range row {
			widest = max(widest, sty.Width(strings.TrimSpace(text)))
		}
	}
	return widest
}

// columnWidth is the width of a column in a figure of that width, or nearly so: the plot lays
// its axes out when it is drawn.
func (c CellChart) columnWidth(width int) vg.Length {
	sty, names := textStyle(smallSize, faint), vg.Length(0)
	for _, name := range c.Rows {
		names = max(names, sty.Width(name))
	}
	return (vg.Length(width)*px - 2*figureMargin - names - besideCells) / vg.Length(len(c.Columns))
}

// letterSize is the size of letters at which a text, so wide at mostLetter, fits a column; 0
// where they would be smaller than leastLetter.
func letterSize(widest, column vg.Length) vg.Length {
	if widest == 0 {
		return mostLetter
	}
	size := min(mostLetter, mostLetter*(column-1.5*px)/widest)
	if size < leastLetter {
		return 0
	}
	return size
}

// sparseTicks names columns so far apart that their names do not touch: of each group of
// columns, which ends where a column has no name, the first and every 2nd, 4th or 8th.
func sparseTicks(names []string, column vg.Length) (ticks []plot.Tick) {
	sty, widest := textStyle(smallSize, faint), vg.Length(0)
	for _, name := range names {
		widest = max(widest, sty.Width(name))
	}
	every := 1
	for vg.Length(every)*column < widest+8*px && every < len(names) {
		every *= 2
	}
	for start := 0; start < len(names); {
		end := start
		for end < len(names) && names[end] != "" {
			end++
		}
		for i := start; i < end; i += every {
			if i == start || end == len(names) || end+1-i >= every { // the next group is named, too
				ticks = append(ticks, plot.Tick{Value: float64(i), Label: names[i]})
			}
		}
		start = end + 1
	}
	return ticks
}

func rowNames(names []string) (ticks []plot.Tick) {
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: rowPosition(i, len(names)), Label: name})
	}
	return ticks
}

// cells draws the cells of a chart.
type cells struct{ chart CellChart }

// cellColor is the colour of a level: that of the palette, mixed with white so
// that the text on it can be read.
func cellColor(level int) color.Color {
	if level <= 0 {
		return color.Gray{Y: 0xf4}
	}
	r, g, b, _ := paletteColor(level - 1).RGBA()
	mix := func(v uint32) uint8 { return uint8(0xff - (0xffff-v)*6/10>>8) }
	return color.RGBA{R: mix(r), G: mix(g), B: mix(b), A: 0xff}
}

// Plot draws the cells with their texts.
func (d *cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const gap = 0.5 * px
	letters := letterSize(d.chart.widestText(), x(1)-x(0))
	sty := textStyle(letters, ink)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
	for i := range d.chart.Rows {
		at := rowPosition(i, len(d.chart.Rows))
		for j, text := range d.chart.Text[i] {
			box := vg.Rectangle{
				Min: vg.Point{X: x(float64(j)-0.5) + gap, Y: y(at-0.5) + gap},
				Max: vg.Point{X: x(float64(j)+0.5) - gap, Y: y(at+0.5) - gap},
			}
			c.SetColor(cellColor(d.chart.Level[i][j]))
			c.Fill(box.Path())
			if text = strings.TrimSpace(text); text != "" && letters > 0 {
				c.FillText(sty, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, text)
			}
		}
	}
}
