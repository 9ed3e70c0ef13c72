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

const cellHeight = 15 // CSS pixels

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
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(sparseTicks(c.Columns)), plot.ConstantTicks(rowNames(c.Rows))
	p.Add(&cells{c})
	f := &Figure{Plot: p, Notes: c.Notes, values: "columns: " + c.XAxis + "; rows: " + c.YAxis,
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

// sparseTicks names every fourth of many columns, whose cells are narrow.
func sparseTicks(names []string) (ticks []plot.Tick) {
	every := 1 + 3*(len(names)/17)
	for i, name := range names {
		if i%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
		}
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
	sty := textStyle(9*px, ink)
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
			if text = strings.TrimSpace(text); text != "" {
				c.FillText(sty, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, text)
			}
		}
	}
}
