package display

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"warpbook/kernel/cellproto"
)

// unencodable has a record that is not JSON.
type unencodable struct{ *Table }

func (unencodable) Record() any { return func() {} }

// framed embeds a chart and shows it in its own way.
type framed struct{ LineChart }

func (framed) MIMEBundle() (data, metadata map[string]any) { return plain("framed"), nil }

// manySeries is a number of series of one value.
func manySeries(n int) (all []Series) {
	for i := range n {
		all = append(all, Series{Name: fmt.Sprint("s", i), Values: []float64{float64(i + 1)}})
	}
	return all
}

func undrawable(t *testing.T) map[string]any {
	t.Helper()
	inkless := plot.New()
	inkless.Add(line(t, plotter.XY{X: 1, Y: 7}), broken{})
	var kinds []Span
	for i := range 9 {
		kinds = append(kinds, Span{Row: "r", Kind: fmt.Sprint(i), End: 1})
	}
	return map[string]any{
		"line chart: 0 points of X":                           LineChart{},
		`line chart: series "s0" has 1 values, expected 2`:    &LineChart{X: []float64{1, 2}, Series: manySeries(1)},
		"line chart: 9 series, expected at most 8":            LineChart{X: []float64{1}, Series: manySeries(9)},
		"bar chart: 9 series, expected at most 8":             BarChart{Labels: []string{"a"}, Series: manySeries(9)},
		"timeline: 9 kinds of spans, expected at most 8":      Timeline{Spans: kinds},
		"bar chart: 0 labels":                                 LatencyChart{},
		"cell chart: 0 columns":                               CellChart{},
		"timeline: no spans":                                  Timeline{},
		"display: figure: no plot":                            &Figure{},
		"display: plot not drawn: panic: no ink":              inkless,
		"display: plot not drawn: size":                       NewFigure(plot.New(), 1<<20, 10),
		"display: record of display.unencodable left out: js": unencodable{NewTable("a")},
		"MIME bundle cannot be encoded":                       custom{"x": func() {}},
	}
}

// TestUndrawableIsAnError: what cannot be drawn fails the cell that shows it, and what
// can be said of it is shown.
func TestUndrawableIsAnError(t *testing.T) {
	for want, v := range undrawable(t) {
		data, _, err := Draw(v)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(fmt.Sprint(data[textPlain]), want) {
			t.Errorf("%T: error %v and text %q, expected %q in both", v, err, data[textPlain], want)
		}
		sent := 0
		SetSink(func(e cellproto.Event) { sent++ })
		for _, show := range []func(){func() { Show(v, "after") }, func() { New(v) }} {
			if got := panicOf(show); got == nil || !strings.Contains(got.Error(), want) {
				t.Errorf("%T: panic %v, expected %q", v, got, want)
			}
		}
		SetSink(nil)
		if sent != 3 {
			t.Errorf("%T: %d displays, expected what can be said of it, and what follows", v, sent)
		}
	}
	for _, v := range []any{NewTable("a"), loud{}, (*Table)(nil), (*LineChart)(nil), framed{}, plot.New(), 1, nil} {
		if data, _, err := Draw(v); err != nil {
			t.Errorf("%T: %v, %v, expected no error", v, data[textPlain], err)
		}
	}
	if got := textOf(t, framed{}); got != "framed" {
		t.Errorf("a type that embeds a chart is shown as %q, expected its own bundle", got)
	}
}

func panicOf(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New(fmt.Sprint(v))
		}
	}()
	f()
	return nil
}

// TestSeriesAreDistinct: no two series of a chart share their colour or their mark.
func TestSeriesAreDistinct(t *testing.T) {
	f, err := LineChart{X: []float64{1}, Series: manySeries(8)}.Figure()
	if err != nil {
		t.Fatal(err)
	}
	colors, shapes := map[string]bool{}, map[string]bool{}
	for _, entry := range f.legend {
		colors[fmt.Sprint(entry.color)], shapes[fmt.Sprintf("%T", entry.mark)] = true, true
	}
	if len(colors) != 8 || len(shapes) != 8 {
		t.Errorf("%d colours and %d marks of 8 series", len(colors), len(shapes))
	}
}
