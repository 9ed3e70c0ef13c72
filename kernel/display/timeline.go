package display

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Span is an interval of time in which a row of the timeline did work of a kind.
type Span struct {
	Row        string // the worker: "stream 1"
	Kind       string // "copy"; kinds have colours
	Start, End float64
}

// Timeline draws spans from their start to their end, a row for each Row and a
// colour for each Kind, both in the order in which they first appear.
type Timeline struct {
	Title, Subtitle string
	Axis            string // with its unit: "time (us)"
	Spans           []Span
	Notes           []string
}

// MIMEBundle shows the timeline's figure, or why there is none.
func (t Timeline) MIMEBundle() (data, metadata map[string]any) { return Of(t) }

func (t Timeline) drawing() (data, metadata map[string]any, err error) { return ofChart(t.Figure()) }

const spanHeight = 26 // CSS pixels

// Figure makes the chart; its error says which span ends before it starts.
func (t Timeline) Figure() (*Figure, error) {
	if len(t.Spans) == 0 {
		return nil, errors.New("display: timeline: no spans")
	}
	var rows, kinds []string
	ends := Series{}
	for i, s := range t.Spans {
		if !(s.Start <= s.End) || math.IsInf(s.Start, 0) || math.IsInf(s.End, 0) {
			return nil, fmt.Errorf("display: timeline: span %d from %v to %v, expected one that starts before it ends", i, s.Start, s.End)
		}
		rows, kinds = addNew(rows, s.Row), addNew(kinds, s.Kind)
		ends.Values = append(ends.Values, s.Start, s.End)
	}
	if len(kinds) > len(palette) {
		return nil, tooMany("timeline", len(kinds), "kinds of spans")
	}
	p := newPlot(rule, nil)
	p.Title.Text, p.X.Label.Text = t.Title, t.Axis
	axes := BarChart{Labels: rows, Series: []Series{ends}}
	p.Y.Min, p.Y.Max = -0.5, float64(len(rows))-0.5
	p.Y.Tick.Label.Color = ink
	p.Y.Tick.Label.Font.Size = labelSize
	names, widest := axes.rowTicks(p.Y.Tick.Label, axes.places())
	p.Y.Tick.Marker = names
	axes.setScale(p, plotWidth*px-widest-2*figureMargin)
	p.Add(&spans{t.Spans, rows, kinds})
	f := &Figure{
		Plot: p, Notes: t.Notes, subtitle: t.Subtitle, values: t.Axis, numbers: t.grid(),
		dataHeight: (spanHeight + rowGap) * len(rows),
	}
	for i, kind := range kinds {
		f.legend = append(f.legend, legendEntry{name: kind, color: paletteColor(i)})
	}
	return f, nil
}

func addNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// grid is the spans as a table.
func (t Timeline) grid() *grid {
	g := &grid{columns: []string{"", "", "start", "end"}}
	var starts, ends []float64
	for _, s := range t.Spans {
		starts, ends = append(starts, s.Start), append(ends, s.End)
	}
	start, end := formatColumn(starts), formatColumn(ends)
	for i, s := range t.Spans {
		g.rows = append(g.rows, []string{s.Row, s.Kind, start[i], end[i]})
	}
	return g
}

// spans draws the spans of a timeline.
type spans struct {
	all         []Span
	rows, kinds []string
}

// Plot draws each span as a bar with an edge, which separates adjacent spans.
func (s *spans) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := min((c.Max.Y-c.Min.Y)/vg.Length(len(s.rows))*0.8, spanHeight*px) / 2
	for _, span := range s.all {
		middle := y(rowPosition(slices.Index(s.rows, span.Row), len(s.rows)))
		bar := vg.Rectangle{Min: vg.Point{X: x(span.Start), Y: middle - half}, Max: vg.Point{X: x(span.End), Y: middle + half}}
		c.SetColor(paletteColor(slices.Index(s.kinds, span.Kind)))
		c.Fill(bar.Path())
		c.SetColor(color.White)
		c.SetLineWidth(0.75 * px)
		c.Stroke(bar.Path())
	}
}
