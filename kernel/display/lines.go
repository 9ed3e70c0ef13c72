package display

import (
	"fmt"
	"image/color"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LineChart draws series over X, which they share: a rate against the size,
// for example. A missing value, NaN, leaves a gap.
type LineChart struct {
	Title, Subtitle string
	XAxis, YAxis    string // what they are, with their units
	X               []float64
	Series          []Series
	LogX, LogY      bool
	Notes           []string
}

// MIMEBundle shows the chart's figure, or why there is none.
func (c LineChart) MIMEBundle() (data, metadata map[string]any) { return Of(c) }

func (c LineChart) drawing() (data, metadata map[string]any, err error) { return ofChart(c.Figure()) }

// Figure makes the chart; its error says which list has the wrong length.
func (c LineChart) Figure() (*Figure, error) {
	if err := checkSeries("line chart", len(c.X), "points of X", c.Series); err != nil {
		return nil, err
	}
	p := NewPlot()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, axisName(c.XAxis, c.LogX), axisName(c.YAxis, c.LogY)
	x := []Series{{Values: c.X}}
	p.X.Min, p.X.Max = rangeOf(x, c.LogX)
	p.Y.Min, p.Y.Max = rangeOf(c.Series, c.LogY)
	if !c.LogY {
		p.Y.Min, p.Y.Max = math.Min(p.Y.Min, 0), math.Max(p.Y.Max, 0)
	}
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = logScale{}, sizeTicks(c.X)
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = logScale{}, logTicks{}
	}
	widen(&p.X)
	widen(&p.Y)
	p.Add(&lines{c})
	legend := legendOf(c.Series)
	for i := range legend {
		legend[i].mark = marks[i%len(marks)]
	}
	return &Figure{
		Plot: p, Notes: c.Notes, subtitle: c.Subtitle, legend: legend, values: c.YAxis,
		numbers: seriesGrid(c.XAxis, formatColumn(c.X), c.Series),
	}, nil
}

// widen moves the equal ends of an axis apart.
func widen(a *plot.Axis) {
	switch {
	case a.Min != a.Max:
	case isLog(*a):
		a.Min, a.Max = a.Min/2, a.Max*2
	default:
		margin := max(1, math.Abs(a.Min)/10)
		a.Min, a.Max = a.Min-margin, a.Max+margin
	}
}

// sizeTicks marks sizes that are all powers of two at the sizes, and other sizes at
// powers of ten.
func sizeTicks(xs []float64) plot.Ticker {
	const short = 1 << 16 // above, a power is easier to read than its digits
	const most = 12       // labels, which are short
	every := (len(xs) + most - 1) / most
	largest := slices.Max(xs)
	var ticks plot.ConstantTicks
	for i, v := range xs {
		if v < 1 || v > 1<<62 || v != math.Trunc(v) || bits.OnesCount64(uint64(v)) != 1 {
			return logTicks{}
		}
		tick := plot.Tick{Value: v}
		switch {
		case i%every != 0:
		case largest > short:
			tick.Label = fmt.Sprintf("2^%d", bits.TrailingZeros64(uint64(v)))
		default:
			tick.Label = tickLabel(v)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// lines draws the series of a chart: a line with a mark at each value.
type lines struct{ chart LineChart }

// marks are shapes that distinguish series without colour.
var marks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
	draw.PlusGlyph{}, draw.CrossGlyph{},
}

func lineStyle(c color.Color) draw.LineStyle { return draw.LineStyle{Color: c, Width: 2 * px} }

func markStyle(c color.Color, shape draw.GlyphDrawer) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: 3.5 * px, Shape: shape}
}

// Plot draws the lines, their marks and their intervals.
func (l *lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, s := range l.chart.Series {
		color := paletteColor(i)
		stroke, glyph := lineStyle(color), markStyle(color, marks[i%len(marks)])
		var line []vg.Point
		for j, v := range s.Values {
			if !drawable(v, l.chart.LogY) || !drawable(l.chart.X[j], l.chart.LogX) {
				c.StrokeLines(stroke, line)
				line = nil
				continue
			}
			at := vg.Point{X: x(l.chart.X[j]), Y: y(v)}
			line = append(line, at)
			c.DrawGlyph(glyph, at)
			if len(s.Low) > 0 && drawable(s.Low[j], l.chart.LogY) && drawable(s.High[j], l.chart.LogY) {
				c.StrokeLine2(stroke, at.X, y(s.Low[j]), at.X, y(s.High[j]))
			}
		}
		c.StrokeLines(stroke, line)
	}
}

// GlyphBoxes makes room for the marks at the edges.
func (l *lines) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	const r = 5 * px
	box := vg.Rectangle{Min: vg.Point{X: -r, Y: -r}, Max: vg.Point{X: r, Y: r}}
	return []plot.GlyphBox{
		{X: p.X.Norm(p.X.Min), Y: p.Y.Norm(p.Y.Min), Rectangle: box},
		{X: p.X.Norm(p.X.Max), Y: p.Y.Norm(p.Y.Max), Rectangle: box},
	}
}
