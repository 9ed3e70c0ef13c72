package display

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// series is the data of one plotter of a gonum plot, for the plot's text.
type series struct {
	name    string
	columns []string // field names, "X" and "Y" mostly
	length  int
	at      func(row, column int) float64
	marks   plot.ConstantTicks // names of the rows of values without an X
}

// maxPoints is how many points of a series the text of a plot gives.
const maxPoints = 12

// seriesOf reads the data of a plot by reflection, because gonum keeps plotters
// unexported. Every field of a plotter that is a list of numbers, or of structs of
// numbers, is data. Plotters that draw a function have none.
func seriesOf(p *plot.Plot) []series {
	names := legendNames(p)
	var out []series
	plotters := reflect.ValueOf(p).Elem().FieldByName("plotters")
	if plotters.Kind() != reflect.Slice {
		return nil
	}
	for i := range plotters.Len() {
		v := plotters.Index(i).Elem()
		name := strings.TrimPrefix(v.Type().String(), "*")
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			if n, ok := names[v.Pointer()]; ok {
				name = n
			}
			v = v.Elem()
		}
		s := series{name: name}
		s.marks, _ = p.X.Tick.Marker.(plot.ConstantTicks)
		s.collect(v)
		if s.length > 0 {
			out = append(out, s)
		}
	}
	return out
}

// legendNames gives the name that a legend has for a plotter.
func legendNames(p *plot.Plot) map[uintptr]string {
	names := map[uintptr]string{}
	entries := reflect.ValueOf(p).Elem().FieldByName("Legend").FieldByName("entries")
	if entries.Kind() != reflect.Slice {
		return names
	}
	for i := range entries.Len() {
		thumbs := entries.Index(i).FieldByName("thumbs")
		for j := range thumbs.Len() {
			if thumb := thumbs.Index(j).Elem(); thumb.Kind() == reflect.Pointer {
				names[thumb.Pointer()] = entries.Index(i).FieldByName("text").String()
			}
		}
	}
	return names
}

// collect adds the lists of numbers that v holds, if as long as the first.
func (s *series) collect(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.Anonymous || field.IsExported() {
				s.collect(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || s.length > 0 && v.Len() != s.length {
			return
		}
		if columns := numberFields(v.Type().Elem()); columns != nil {
			s.add(v, columns)
		}
	}
}

// numberFields names the numbers in a list's element, or returns nil.
func numberFields(t reflect.Type) []string {
	if t.Kind() == reflect.Float64 {
		return []string{"Value"}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		if t.Field(i).Type.Kind() != reflect.Float64 {
			return nil
		}
		names = append(names, t.Field(i).Name)
	}
	return names
}

func (s *series) add(list reflect.Value, columns []string) {
	before, first := s.at, len(s.columns)
	s.length = list.Len()
	s.columns = append(s.columns, columns...)
	s.at = func(row, column int) float64 {
		if column < first {
			return before(row, column)
		}
		v := list.Index(row)
		if v.Kind() == reflect.Struct {
			v = v.Field(column - first)
		}
		return v.Float()
	}
}

// values returns the numbers of the named columns.
func (s series) values(names ...string) []float64 {
	var out []float64
	for i, column := range s.columns {
		for _, name := range names {
			for row := 0; column == name && row < s.length; row++ {
				out = append(out, s.at(row, i))
			}
		}
	}
	return out
}

func (s series) xs() []float64 { return s.values("X", "Min", "Max", "Value") }
func (s series) ys() []float64 { return s.values("Y", "Weight", "Value") }

// grid is the series as a table, the first and last points of a long one.
func (s series) grid() grid {
	g := grid{title: fmt.Sprintf("%s, %d points", s.name, s.length)}
	bare := len(s.columns) == 1
	if bare {
		g.columns = append(g.columns, "")
	}
	for _, column := range s.columns {
		g.columns = append(g.columns, strings.ToLower(column))
	}
	var rows []int
	for row := 0; row < s.length; row++ {
		if s.length > maxPoints && row == maxPoints*2/3 {
			row = s.length - maxPoints/3
		}
		rows = append(rows, row)
		if bare {
			g.rows = append(g.rows, []string{s.rowName(row)})
		} else {
			g.rows = append(g.rows, nil)
		}
	}
	for column := range s.columns {
		var values []float64
		for _, row := range rows {
			values = append(values, s.at(row, column))
		}
		for i, cell := range formatColumn(values) {
			g.rows[i] = append(g.rows[i], cell)
		}
	}
	if s.length > maxPoints {
		g.rows = slices.Insert(g.rows, maxPoints*2/3, []string{"…"})
	}
	return g
}

// rowName is the axis label of a value without an X.
func (s series) rowName(row int) string {
	for _, mark := range s.marks {
		if mark.Value == float64(row) {
			return mark.Label
		}
	}
	return fmt.Sprint(row)
}

// plotText is a plot as text: its title, its axes, and the numbers of each series.
func plotText(p *plot.Plot, all []series) string {
	var parts []string
	if p.Title.Text != "" {
		parts = append(parts, p.Title.Text)
	}
	parts = append(parts, axisText("x", p.X)+"\n"+axisText("y", p.Y))
	for _, s := range all {
		parts = append(parts, s.grid().text())
	}
	return strings.Join(parts, "\n\n")
}

func axisText(name string, a plot.Axis) string {
	s := name
	if a.Label.Text != "" {
		s += ": " + a.Label.Text
	}
	if isLog(a) && !strings.Contains(s, "log") {
		s += " (log scale)"
	}
	return s + fmt.Sprintf(", %s to %s", formatNumber(a.Min), formatNumber(a.Max))
}
