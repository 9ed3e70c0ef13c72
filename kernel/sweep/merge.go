package sweep

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/compare"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/runs"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"time": compare.Duration}).Parse(pageText))

// Report holds the figures of the points of a sweep.
type Report struct {
	Notebook string    `json:"notebook"`
	Axes     []Axis    `json:"axes"`
	Missing  []Missing `json:"missing"`
	Rows     []Row     `json:"rows"`
}

// Missing is a point that has not passed.
type Missing struct {
	Point string `json:"point"`
	Why   string `json:"why"`
}

// Row is a timed row of one point.
type Row struct {
	Point    string   `json:"point"`
	Values   []string `json:"values"`
	Device   string   `json:"device"`
	Title    string   `json:"title"`
	Row      string   `json:"row"`
	Clock    string   `json:"clock"`
	MedianNS float64  `json:"median_ns"`
	LowNS    float64  `json:"low_ns"`
	HighNS   float64  `json:"high_ns"`
}

// Merge reads the records of the points that have passed, and writes NAME.sweep.html,
// .csv and .json into the folder of the sweep. It returns their paths.
func (p *Plan) Merge() (Report, []string, error) {
	r := Report{Notebook: p.Notebook, Axes: p.Axes}
	for _, point := range p.Points() {
		if !p.Done(point) {
			r.Missing = append(r.Missing, Missing{point.Name, p.why(point)})
			continue
		}
		run, err := runs.Read(p.File(point))
		if err != nil {
			return r, nil, fmt.Errorf("sweep: %w", err)
		}
		for _, key := range run.Keys {
			if t, ok := run.Timings[key]; ok {
				r.Rows = append(r.Rows, Row{point.Name, point.Values, strings.Join(run.Environment["device"], "; "), key.Title, key.Row, t.Clock, t.Median, t.Low, t.High})
			}
		}
	}
	paths := p.results()
	for i, fill := range []func(io.Writer) error{r.html, r.csv, r.json} {
		if err := atomicfile.Write(paths[i], fill); err != nil {
			return r, paths[:i], fmt.Errorf("sweep: %w", err)
		}
	}
	return r, paths, nil
}

// results are the paths of the report: HTML, CSV and JSON.
func (p *Plan) results() []string {
	base := filepath.Join(p.folder, strings.TrimSuffix(p.Notebook, filepath.Ext(p.Notebook))+".sweep")
	return []string{base + ".html", base + ".csv", base + ".json"}
}

func (r Report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r Report) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"point"}
	for _, a := range r.Axes {
		head = append(head, a.Name)
	}
	c.Write(append(head, "device", "title", "row", "clock", "median_ns", "low_ns", "high_ns"))
	for _, row := range r.Rows {
		ns := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		line := append([]string{row.Point}, row.Values...)
		c.Write(append(line, row.Device, row.Title, row.Row, row.Clock, ns(row.MedianNS), ns(row.LowNS), ns(row.HighNS)))
	}
	c.Flush()
	return c.Error()
}

func (r Report) html(w io.Writer) error { return page.Execute(w, r) }

// Measured names the devices and what their times are, such as "NVIDIA H200 (time)".
func (r Report) Measured() (list []string) {
	for _, row := range r.Rows {
		if text := row.Device + " (" + row.Clock + ")"; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Table is the medians of the rows, a line a row and a column a point.
func (r Report) Table() (t struct {
	Points []string
	Lines  []Line
}) {
	places := map[string]int{}
	for _, row := range r.Rows {
		if _, ok := places[row.Point]; !ok {
			places[row.Point] = len(t.Points)
			t.Points = append(t.Points, label(r.Axes, row.Values))
		}
	}
	index := map[string]int{}
	for _, row := range r.Rows {
		i, ok := index[row.Row]
		if !ok {
			i = len(t.Lines)
			index[row.Row] = i
			t.Lines = append(t.Lines, Line{Name: row.Row, Cells: make([]string, len(t.Points)), ns: make([]float64, len(t.Points))})
		}
		t.Lines[i].Cells[places[row.Point]] = compare.Duration(row.MedianNS)
		t.Lines[i].ns[places[row.Point]] = row.MedianNS
	}
	return t
}

// Line is one row over all points.
type Line struct {
	Name  string
	Cells []string
	ns    []float64 // 0: not timed
}

// label is a point for a reader.
func label(axes []Axis, values []string) string {
	var parts []string
	for i, a := range axes {
		parts = append(parts, a.Name+" = "+values[i])
	}
	return strings.Join(parts, ", ")
}

// Points are the coordinates of a line in the plot of 720 x 120, on a logarithmic axis
// between the least and the largest time of the line.
func (l Line) Points() string {
	least, most := math.Inf(1), 0.0
	for _, ns := range l.ns {
		if ns > 0 {
			least, most = min(least, ns), max(most, ns)
		}
	}
	var b strings.Builder
	for i, ns := range l.ns {
		if ns == 0 {
			continue
		}
		share := 0.5
		if most > least {
			share = math.Log(ns/least) / math.Log(most/least)
		}
		fmt.Fprintf(&b, "%.1f,%.1f ", 10+140*(float64(i)+0.5)/float64(len(l.ns)), 26-22*share)
	}
	return b.String()
}
