package compare

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"time": Duration, "ratio": ratio, "p": pValue, "lower": strings.ToLower, "join": join,
	"style": func() template.CSS { return template.CSS(style) }, "plot": plotOf,
}).Parse(pageText))

// Report is one or more sets against the same first one.
type Report []*Comparison

// schema is the version of the JSON.
const schema = 1

// HTML writes one page that loads nothing.
func (r Report) HTML(w io.Writer) error { return page.Execute(w, r) }

// JSON writes everything.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Schema      int    `json:"schema"`
		Comparisons Report `json:"comparisons"`
	}{schema, r})
}

// Text writes the comparison for a terminal.
func (r Report) Text(w io.Writer) error { return r.each(w, (*Comparison).text) }

// Markdown writes tables for an issue or a pull request.
func (r Report) Markdown(w io.Writer) error {
	if err := r.each(w, (*Comparison).markdown); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\n<!-- warpbook compare -->") // by which the command knows its file
	return err
}

func (r Report) each(w io.Writer, write func(*Comparison, io.Writer) error) error {
	for i, c := range r {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(c, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) text(w io.Writer) error {
	fmt.Fprintf(w, "A: %s\nB: %s\n", clean(c.A), clean(c.B))
	for _, d := range c.Environments {
		fmt.Fprintf(w, "differs: %s\n  A: %s\n  B: %s\n", clean(d.Name), clean(join(d.A)), clean(join(d.B)))
	}
	for _, v := range c.Verdicts {
		fmt.Fprintf(w, "verdict: %s: A %s, B %s\n", clean(v.Key.String()), clean(v.A), clean(v.B))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range c.Groups() {
		fmt.Fprintf(w, "\n%s\n", clean(g.Heading))
		fmt.Fprintln(t, "row\tA\tB\tB / A\tinterval\tp\tverdict")
		for _, r := range g.Rows {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s to %s\t%s\t%s\n", clean(r.Key.Row), Duration(r.A.Median), Duration(r.B.Median), ratio(r.Ratio), ratio(r.Low), ratio(r.High), pValue(r.P), r.Verdict)
		}
		t.Flush()
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s\n", c.Summary(), c.Method)
	return err
}

func (c *Comparison) markdown(w io.Writer) error {
	fmt.Fprintf(w, "**A**: %s  \n**B**: %s\n\n%s\n", cell(c.A), cell(c.B), c.Summary())
	if len(c.Environments) > 0 {
		fmt.Fprint(w, "\n| differs | A | B |\n| --- | --- | --- |\n")
		for _, d := range c.Environments {
			fmt.Fprintf(w, "| %s | %s | %s |\n", cell(d.Name), cell(join(d.A)), cell(join(d.B)))
		}
	}
	if len(c.Verdicts) > 0 {
		fmt.Fprint(w, "\n| correctness row | A | B |\n| --- | --- | --- |\n")
		for _, v := range c.Verdicts {
			fmt.Fprintf(w, "| %s | %s | %s |\n", cell(v.Key.String()), cell(v.A), cell(v.B))
		}
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(w, "\n%s\n\n| row | A | B | B / A | interval | p | verdict |\n| --- | --- | --- | --- | --- | --- | --- |\n", cell(g.Heading))
		for _, r := range g.Rows {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s to %s | %s | %s |\n", cell(r.Key.Row), Duration(r.A.Median), Duration(r.B.Median), ratio(r.Ratio), ratio(r.Low), ratio(r.High), pValue(r.P), r.Verdict)
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", c.Method)
	return err
}

// Summary counts the verdicts.
func (c *Comparison) Summary() string {
	count := map[string]int{}
	for _, r := range c.Rows {
		count[r.Verdict]++
	}
	text := fmt.Sprintf("%d rows: %d SAME, %d FASTER, %d SLOWER, %d AMBIGUOUS", len(c.Rows), count[Same], count[Faster], count[Slower], count[Ambiguous])
	if n := count[NoVerdict]; n > 0 {
		text += fmt.Sprintf(", %d without a verdict: one side is a GPU, the other an emulation", n)
	}
	if n := len(c.OnlyA) + len(c.OnlyB); n > 0 {
		text += fmt.Sprintf("; %d only in A, %d only in B", len(c.OnlyA), len(c.OnlyB))
	}
	return text
}

// Duration writes nanoseconds with four digits and their unit.
func Duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Microsecond:
		return fmt.Sprintf("%.4g ns", ns)
	case d < time.Millisecond:
		return fmt.Sprintf("%.4g us", ns/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.4g ms", ns/1e6)
	}
	return fmt.Sprintf("%.4g s", ns/1e9)
}

func ratio(r float64) string { return fmt.Sprintf("%.3f", r) }

func pValue(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.2g", *p)
}

func join(texts []string) string {
	if len(texts) == 0 {
		return "(none)"
	}
	return strings.Join(texts, "; ")
}

// clean removes what would control a terminal from the text of a file.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// cell is a text in a table of Markdown.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "[", `\[`, "`", "'", "*", `\*`, "_", `\_`).Replace(clean(s))
}

// plot is where the intervals of the rows of one table lie on a logarithmic axis,
// in the units of its drawing.
type plot struct {
	Width, Height int
	One           float64 // where the ratio 1 lies
	Bottom        int     // of its line
	Ticks         []tick
	Rows          []plotted
}

type tick struct {
	X    float64
	Text string
}

type plotted struct {
	Row
	Y, Low, High, Middle float64
}

const (
	plotLeft, plotWidth, rowHeight = 240, 720, 22
	plotRight                      = plotWidth - 20
)

// plotOf draws the ratios of one table.
func plotOf(rows []Row) plot {
	widest := 1.05
	for _, r := range rows {
		widest = max(widest, r.High, 1/r.Low)
	}
	widest = min(widest, 100)
	at := func(ratio float64) float64 {
		share := (math.Log(ratio)/math.Log(widest) + 1) / 2
		return plotLeft + (plotRight-plotLeft)*min(1, max(0, share))
	}
	p := plot{Width: plotWidth, Height: rowHeight*len(rows) + 20, One: at(1), Bottom: rowHeight * len(rows)}
	for _, r := range []float64{1 / widest, 1, widest} {
		p.Ticks = append(p.Ticks, tick{at(r), ratio(r)})
	}
	for i, r := range rows {
		p.Rows = append(p.Rows, plotted{r, float64(rowHeight*i + 16), at(r.Low), at(r.High), at(r.Ratio)})
	}
	return p
}

// Group is the rows of one table.
type Group struct {
	Heading string // the title, with the cell if another table has the same title
	Rows    []Row
}

// Groups are the rows by table, in their order.
func (c *Comparison) Groups() (groups []Group) {
	tables := map[string]int{} // by title
	for i, r := range c.Rows {
		if i == 0 || r.Title != c.Rows[i-1].Title || r.Cell != c.Rows[i-1].Cell {
			groups = append(groups, Group{Heading: r.Title})
			tables[r.Title]++
		}
		last := &groups[len(groups)-1]
		last.Rows = append(last.Rows, r)
	}
	for i, g := range groups {
		if tables[g.Heading] > 1 {
			groups[i].Heading += " (cell " + g.Rows[0].Cell + ")"
		}
	}
	return groups
}
