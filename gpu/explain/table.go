package explain

import (
	"fmt"
	"strings"

	"warpbook/kernel/leaf/record"
)

// mostPictures bounds how many findings are shown with the table; the others
// are in Findings.
const mostPictures = 4

// Parts are the table and the pictures of the costliest findings.
func (r *Report) Parts() []any {
	parts := []any{r}
	for _, f := range r.Findings[:min(len(r.Findings), mostPictures)] {
		parts = append(parts, f)
	}
	return parts
}

// Title stands above the table.
func (r *Report) Title() string { return r.title }

// column is a column of the table; blank where nothing was counted.
type column struct {
	title string
	value func(*Line) uint64
}

var columns = []column{
	{"warp instructions", func(l *Line) uint64 { return l.Warps }},
	{"divergent branches", func(l *Line) uint64 { return l.Divergent }},
	{"global requests", func(l *Line) uint64 { return l.Global.Requests }},
	{"global sectors", func(l *Line) uint64 { return l.Global.Sectors }},
	{"local sectors", func(l *Line) uint64 { return l.Local.Sectors }},
	{"shared requests", func(l *Line) uint64 { return l.Shared.Requests }},
	{"shared wavefronts", func(l *Line) uint64 { return l.Shared.Wavefronts }},
	{"bank conflicts", func(l *Line) uint64 { return l.Shared.Conflicts }},
}

// Table has a row for each line that ran, and the sum. Columns in which
// nothing was counted are left out, and the file if the title names it.
func (r *Report) Table() (names []string, rows [][]string) {
	file := r.file()
	sum := Line{Text: "all lines"}
	for i := range r.Lines {
		l := &r.Lines[i]
		sum.Warps, sum.Threads, sum.Divergent = sum.Warps+l.Warps, sum.Threads+l.Threads, sum.Divergent+l.Divergent
		sum.Global.Add(l.Global)
		sum.Local.Add(l.Local)
		sum.Shared.Add(l.Shared)
	}
	names = []string{"line", "source", "PTX lines", "lanes idle"}
	var used []column
	for _, c := range columns {
		if c.value(&sum) > 0 {
			used, names = append(used, c), append(names, c.title)
		}
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		at := fmt.Sprintf("%s:%d", l.File, l.Line)
		switch {
		case l.Line == 0:
			at = l.File + ", no line"
		case l.File == file:
			at = fmt.Sprint(l.Line)
		}
		rows = append(rows, l.row(at, used))
	}
	if sum.Warps > 0 {
		rows = append(rows, sum.row("", used))
	}
	return names, rows
}

func (l *Line) row(at string, used []column) []string {
	row := []string{at, l.Text, few(l.PTX), fmt.Sprintf("%.1f %%", 100*l.Idle())}
	for _, c := range used {
		text := ""
		if v := c.value(l); v > 0 {
			text = grouped(v)
		}
		row = append(row, text)
	}
	return row
}

// rangesOf writes ascending numbers as "12-15, 19".
func rangesOf(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// few writes ascending numbers, and of many only the first.
func few(numbers []int) string {
	const most = 24 // letters
	s := rangesOf(numbers)
	if len(s) <= most {
		return s
	}
	return s[:max(strings.LastIndex(s[:most], ","), 0)] + fmt.Sprintf(", … (%d)", len(numbers))
}

// solid is grouped for running text, which no line breaks.
func solid(v uint64) string { return strings.ReplaceAll(grouped(v), " ", "\u00a0") }

// grouped writes a count with a space between thousands.
func grouped(v uint64) string {
	s := fmt.Sprint(v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Notes describe the findings and the way of counting.
func (r *Report) Notes() []string {
	var notes []string
	for _, f := range r.Findings {
		note := f.Title()
		if len(f.Remedies) > 0 {
			note += "; " + f.Remedies[0].String()
		}
		notes = append(notes, note)
	}
	if more := len(r.Findings) - mostPictures; more > 0 {
		notes = append(notes, fmt.Sprintf("%d more of these have pictures in Findings.", more))
	}
	notes = append(notes, r.notes...)
	return append(notes, "Memory is counted as NVIDIA's profiler counts it; instructions, branches and idle lanes are those of PTX. "+
		"Copies of registers count with the instruction behind them.")
}

// Record is the report for programs.
func (r *Report) Record() any {
	var found []map[string]any
	for _, f := range r.Findings {
		found = append(found, map[string]any{"kind": f.Kind, "at": f.At, "ptx_lines": f.PTX, "instructions": f.Instructions,
			"cost": f.Cost, "best": f.Best, "remedies": f.Remedies})
	}
	return map[string]any{"schema": record.Version, "kind": record.Explanation, "title": r.title, "rows": r.Lines, "findings": found}
}
