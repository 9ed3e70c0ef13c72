package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"text/tabwriter"
	"time"

	"warpbook/kernel/runs"
)

//go:embed series.html
var seriesText string

var seriesPage = template.Must(template.New("series").Funcs(template.FuncMap{
	"time": Duration, "style": func() template.CSS { return template.CSS(style) },
}).Parse(seriesText))

// Series is the time of one row over runs, the oldest first.
type Series struct {
	Row    string
	Points []Point
}

// Point is the figure of one run.
type Point struct {
	At                  time.Time
	Run, Device, Commit string
	Timed               runs.TimedRow
}

// Text writes a line for each run.
func (s Series) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "started\tmedian\tinterval\tdevice\tcommit\ttable")
	for _, p := range s.Points {
		fmt.Fprintf(t, "%s\t%s\t%s to %s\t%s\t%s\t%s\n", p.At.Format(time.DateTime), Duration(p.Timed.Median), Duration(p.Timed.Low), Duration(p.Timed.High), clean(p.Device), clean(p.Commit), clean(p.Timed.Title))
	}
	return t.Flush()
}

// HTML writes one page with a plot that loads nothing.
func (s Series) HTML(w io.Writer) error { return seriesPage.Execute(w, s) }

// Marks are the points of the plot. All are as far apart as runs are, not as their
// times: a plot over dates would put the runs of a day on one place.
func (s Series) Marks() (marks []mark) {
	most := 0.0
	for _, p := range s.Points {
		most = max(most, p.Timed.High, p.Timed.Median)
	}
	at := func(ns float64) float64 { // from zero, so that a change is as large as it looks
		return plotTop + (plotBottom-plotTop)*(1-ns/most)
	}
	for i, p := range s.Points {
		x := plotSide + (plotWidth-2*plotSide)*(float64(i)+0.5)/float64(len(s.Points))
		marks = append(marks, mark{p, x, at(p.Timed.Median), at(p.Timed.Low), at(p.Timed.High)})
	}
	return marks
}

type mark struct {
	Point
	X, Y, Low, High float64
}

const plotTop, plotBottom, plotSide = 20.0, 220.0, 20.0
