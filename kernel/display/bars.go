package display

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one set of values of a chart, one for each label or x. NaN is a
// missing value: nothing is drawn for it. Low and High, where they are given,
// are the ends of the values' confidence intervals.
type Series struct {
	Name      string
	Values    []float64
	Low, High []float64
}

// BarChart draws horizontal bars, a row for each label with a bar for each
// series, and writes each value at its bar's end. It grows with its rows.
type BarChart struct {
	Title, Subtitle string
	Axis            string // what the values are, with their unit: "time (us)"
	Labels          []string
	Series          []Series
	Log             bool // a logarithmic axis, which has no zero: compare ends, not lengths
	Notes           []string

	limit string   // of LatencyChart
	peers []string // of LatencyChart
}

// barrer is a value that Of shows as a BarChart: a row for each label with a bar for each
// name. A value may have the methods Title and Notes, too.
type barrer interface {
	Bars() (axis string, labels, names []string, values [][]float64)
}

func barsOf(v barrer) (c BarChart) {
	var names []string
	var values [][]float64
	c.Axis, c.Labels, names, values = v.Bars()
	for i, name := range names {
		c.Series = append(c.Series, Series{Name: name, Values: values[i]})
	}
	if t, ok := v.(titler); ok {
		c.Title = t.Title()
	}
	if n, ok := v.(noter); ok {
		c.Notes = n.Notes()
	}
	return c
}

// MIMEBundle shows the chart's figure, or why there is none.
func (c BarChart) MIMEBundle() (data, metadata map[string]any) { return Of(c) }

func (c BarChart) drawing() (data, metadata map[string]any, err error) { return ofChart(c.Figure()) }

func ofChart(f *Figure, err error) (data, metadata map[string]any, _ error) {
	if err != nil {
		return plain(err.Error()), nil, err
	}
	return f.drawing()
}

const (
	barHeight = 13 // CSS pixels
	rowGap    = 11
)

// Figure makes the chart; its error says which list has the wrong length.
func (c BarChart) Figure() (*Figure, error) {
	if err := checkSeries("bar chart", len(c.Labels), "labels", c.Series); err != nil {
		return nil, err
	}
	c.Axis = axisName(c.Axis, c.Log)
	p := newPlot(rule, nil)
	p.Title.Text, p.X.Label.Text = c.Title, c.Axis
	bars := newBarRows(c)
	p.Y.Min, p.Y.Max = c.span()
	p.Y.Tick.Label.Color = ink
	p.Y.Tick.Label.Font.Size = labelSize
	names, widest := c.rowTicks(p.Y.Tick.Label, bars.at)
	p.Y.Tick.Marker = names
	c.setScale(p, plotWidth*px-widest-2*figureMargin)
	p.Add(bars)
	f := &Figure{
		Plot: p, Notes: withMissing(c.Notes, c.Series), subtitle: c.Subtitle, values: c.Axis,
		numbers:    seriesGrid("", c.Labels, c.Series),
		dataHeight: int(float64(len(c.Series)*barHeight+rowGap) * (p.Y.Max - p.Y.Min)),
	}
	c.addPeersAndLimit(f)
	return f, nil
}

// axisName says in an axis's title that the axis is logarithmic.
func axisName(name string, log bool) string {
	if log && !strings.Contains(name, "log") {
		return strings.TrimPrefix(name+", log scale", ", ")
	}
	return name
}

// withMissing adds to notes what a gap between bars means, if there is one.
func withMissing(notes []string, all []Series) []string {
	for _, s := range all {
		if slices.ContainsFunc(s.Values, math.IsNaN) {
			return append(slices.Clone(notes), "no bar: no figure")
		}
	}
	return notes
}

func legendOf(all []Series) []legendEntry {
	var entries []legendEntry
	for i, s := range all {
		entries = append(entries, legendEntry{name: s.Name, color: paletteColor(i)})
	}
	return entries
}

// setScale chooses the range of the value axis: from zero, or on a log axis
// from the round number below the least value. The width limits the number of ticks.
func (c BarChart) setScale(p *plot.Plot, width vg.Length) {
	low, high := rangeOf(c.Series, c.Log)
	p.X.Padding = 0
	if !c.Log {
		p.X.Min, p.X.Max = math.Min(low, 0), math.Max(high, 0)
		if p.X.Min == p.X.Max {
			p.X.Max = 1
		}
		label := p.X.Tick.Label.Width(tickLabel(math.Trunc(p.X.Max))) + 24*px
		p.X.Tick.Marker = evenTicks(min(max(int(width/label)-1, 2), usualSteps))
		return
	}
	p.X.Scale, p.X.Tick.Marker = logScale{}, logTicks{}
	p.X.Min, p.X.Max = roundBelow(low/1.5), high
}

// roundBelow returns the largest of 1, 2 and 5 times a power of ten up to v.
func roundBelow(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, f := range []float64{5, 2} {
		if f*power <= v {
			return f * power
		}
	}
	return power
}

// rowTicks names the rows, from the top down, and measures the names.
func (c BarChart) rowTicks(sty draw.TextStyle, at []float64) (ticks plot.ConstantTicks, widest vg.Length) {
	const most = 0.4 * plotWidth * px
	for i, label := range c.Labels {
		label = shorten(label, sty, most)
		widest = max(widest, sty.Width(label))
		ticks = append(ticks, plot.Tick{Value: at[i], Label: label})
	}
	return ticks, widest
}

// rowPosition is the place of row i of n on the y axis, which points upwards.
func rowPosition(i, n int) float64 { return float64(n - 1 - i) }

// rangeOf is the range of the values and intervals that can be drawn; 1 to 10
// if there are none.
func rangeOf(all []Series, log bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, list := range [][]float64{s.Values, s.Low, s.High} {
			for _, v := range list {
				if drawable(v, log) {
					low, high = math.Min(low, v), math.Max(high, v)
				}
			}
		}
	}
	if low > high {
		return 1, 10
	}
	return low, high
}

func drawable(v float64, log bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log)
}

// checkSeries returns an error if a series does not have n values.
func checkSeries(chart string, n int, what string, all []Series) error {
	if n == 0 || len(all) == 0 {
		return fmt.Errorf("display: %s: %d %s and %d series, expected at least 1 of each", chart, n, what, len(all))
	}
	if len(all) > len(palette) {
		return tooMany(chart, len(all), "series")
	}
	for _, s := range all {
		if len(s.Values) != n {
			return fmt.Errorf("display: %s: series %q has %d values, expected %d as there are %s", chart, s.Name, len(s.Values), n, what)
		}
		if len(s.Low) != len(s.High) || len(s.Low) != 0 && len(s.Low) != n {
			return fmt.Errorf("display: %s: series %q has %d lower and %d upper ends, expected %d or none", chart, s.Name, len(s.Low), len(s.High), n)
		}
	}
	return nil
}

// tooMany rejects a chart with more parts than there are colours.
func tooMany(chart string, n int, what string) error {
	return fmt.Errorf("display: %s: %d %s, expected at most %d, the number of distinct colours: make two charts", chart, n, what, len(palette))
}

// seriesGrid is a chart's data as a table, whose first column holds the labels
// of the values.
func seriesGrid(first string, labels []string, all []Series) *grid {
	g := &grid{columns: []string{first}}
	for _, label := range labels {
		g.rows = append(g.rows, []string{label})
	}
	add := func(name string, values []float64) {
		if len(values) == 0 {
			return
		}
		g.columns = append(g.columns, name)
		for i, cell := range formatColumn(values) {
			g.rows[i] = append(g.rows[i], cell)
		}
	}
	for _, s := range all {
		add(s.Name, s.Values)
		add("low", s.Low)
		add("high", s.High)
	}
	return g
}

// barRows draws the bars of a chart. gonum's own bars panic on a log axis and
// cannot skip missing values.
type barRows struct {
	at     []float64 // places of the rows on the y axis, which points upwards
	series []Series
	log    bool
	label  draw.TextStyle
	peer   []bool  // of the rows
	limit  float64 // NaN: none
}

func newBarRows(c BarChart) *barRows {
	return &barRows{c.places(), c.Series, c.Log, textStyle(smallSize, ink), c.isPeer(), c.limitValue()}
}

// Plot draws the bars, their intervals and their values.
func (b *barRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	row := (c.Max.Y - c.Min.Y) / vg.Length(p.Y.Max-p.Y.Min)
	height := min(row/(vg.Length(len(b.series))+0.5), 1.5*barHeight*px)
	for i, at := range b.at {
		present := presentIn(b.series, i)
		middle := y(at) + height*vg.Length(len(present)-1)/2
		for _, j := range present {
			b.bar(c, x, middle, height*0.88, i, j)
			middle -= height
		}
	}
	if !math.IsNaN(b.limit) {
		c.StrokeLine2(limitLine, x(b.limit), c.Min.Y, x(b.limit), c.Max.Y)
	}
}

// presentIn returns the series that have a value in row i. Their bars are centred on
// the row.
func presentIn(series []Series, i int) []int {
	var present []int
	for j, s := range series {
		if v := s.Values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			present = append(present, j)
		}
	}
	return present
}

func (b *barRows) bar(c draw.Canvas, x func(float64) vg.Length, middle, height vg.Length, i, j int) {
	s := b.series[j]
	v, base := s.Values[i], c.Min.X
	if !b.log {
		base = x(0)
	}
	end := x(v)
	c.SetColor(b.color(i, j))
	c.Fill(vg.Rectangle{Min: vg.Point{X: base, Y: middle - height/2}, Max: vg.Point{X: end, Y: middle + height/2}}.Path())
	if len(s.Low) > 0 && drawable(s.Low[i], b.log) && drawable(s.High[i], b.log) {
		drawInterval(c, x(s.Low[i]), x(s.High[i]), middle, height/4)
		end = max(end, x(s.High[i]))
	}
	words := b.words(v, j)
	if line := x(b.limit); line > end && line < end+2*valueGap+b.label.Width(words) {
		end = line // the words stand right of the line, not on it
	}
	b.value(c, v, words, end, middle)
}

// drawInterval draws a whisker with caps. Of a narrow interval only the caps show.
func drawInterval(c draw.Canvas, low, high, y, half vg.Length) {
	sty := draw.LineStyle{Color: ink, Width: 1.2 * px}
	c.StrokeLine2(sty, low, y, high, y)
	c.StrokeLine2(sty, low, y-half, low, y+half)
	c.StrokeLine2(sty, high, y-half, high, y+half)
}

const valueGap = 5 * px // between a bar and its value

func (b *barRows) value(c draw.Canvas, v float64, words string, end, middle vg.Length) {
	sty := b.label
	at := vg.Point{X: end + valueGap, Y: middle - sty.Font.Size*0.45} // capitals are 0.72 high
	if v < 0 && !b.log {
		sty.XAlign = draw.XRight
		at.X = end - valueGap
	}
	c.FillText(sty, at, words)
}

// GlyphBoxes makes room for the values beside the bars.
func (b *barRows) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	var boxes []plot.GlyphBox
	for i := range b.at {
		for _, j := range presentIn(b.series, i) {
			s, v := b.series[j], b.series[j].Values[i]
			width := b.label.Width(b.words(v, j)) + valueGap
			end, left := v, font.Length(0)
			if v < 0 && !b.log {
				left = -width
			} else if len(s.High) > 0 && drawable(s.High[i], b.log) {
				end = math.Max(v, s.High[i])
			}
			boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(end), Rectangle: vg.Rectangle{
				Min: vg.Point{X: left}, Max: vg.Point{X: left + width},
			}})
		}
	}
	return boxes
}
