package results

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"warpbook/ops/ladder"
)

// Pair is two rungs side by side: source, machine code and counters.
type Pair struct {
	Source  []ladder.LinePair
	Machine [][]string // rows of name, left and right; none where there is no machine code
	Loop    [2][]string
	Counts  *SideBySide
	Note    string // what the machine code is, or why there is none
}

// SetMachine takes the rows of the machine code that are not 0 for both.
func (p *Pair) SetMachine(t *ladder.MachineTable) {
	l, r := t.Rows[0], t.Rows[1]
	p.Note = "machine code: " + t.Assembler + "; accesses are instructions of the code, not executions; the loop is the one that multiplies"
	add := func(name string, left, right int) {
		if left != 0 || right != 0 {
			p.Machine = append(p.Machine, []string{name, ladder.Grouped(float64(left)), ladder.Grouped(float64(right))})
		}
	}
	add("registers", l.Registers, r.Registers)
	add("spilled bytes", l.SpillBytes, r.SpillBytes)
	accesses := maps.Clone(l.Accesses)
	if accesses == nil {
		accesses = map[string]int{}
	}
	maps.Copy(accesses, r.Accesses)
	for _, name := range slices.Sorted(maps.Keys(accesses)) {
		add(name, l.Accesses[name], r.Accesses[name])
	}
	add("instructions of the loop", l.Loop.Instructions, r.Loop.Instructions)
	add("FMA of the loop", l.Loop.FMA, r.Loop.FMA)
	add("waits for a bank of registers", l.Loop.BankWaits, r.Loop.BankWaits)
	p.Loop = [2][]string{l.Loop.Excerpt, r.Loop.Excerpt}
}

// names are those of the two rungs.
func (p *Pair) names() (left, right string) {
	return p.Counts.Counts.Rows[0].Name, p.Counts.Counts.Rows[1].Name
}

// columns are the texts that stand beside each other: the source, and an excerpt of the
// loop if there is one. Changed lines are marked - and +.
func (p *Pair) columns() (sections [][2][]string) {
	var source [2][]string
	for _, l := range p.Source {
		left, right := wrapped(l.Left), wrapped(l.Right)
		for i := range max(len(left), len(right)) {
			source[0], source[1] = append(source[0], at(left, i)), append(source[1], at(right, i))
		}
	}
	sections = append(sections, source)
	if len(p.Loop[0])+len(p.Loop[1]) > 0 {
		sections = append(sections, p.Loop)
	}
	return sections
}

// Record is that of the counters.
func (p *Pair) Record() any { return p.Counts.Record() }

// MIMEBundle is the columns as text and as an HTML table.
func (p *Pair) MIMEBundle() (data, metadata map[string]any) {
	return map[string]any{"text/plain": p.text(), "text/html": p.html()}, map[string]any{}
}

func (p *Pair) rows() (head []string, rows [][]string, notes []string) {
	head, rows = p.Counts.Table()
	for _, m := range p.Machine {
		rows = append(rows, append(slices.Clone(m), ""))
	}
	return head, rows, append([]string{p.Note}, p.Counts.Notes()...)
}

func (p *Pair) html() string {
	var b strings.Builder
	left, right := p.names()
	fmt.Fprintf(&b, "<table><thead><tr><th>%s</th><th>%s</th></tr></thead><tbody>", html.EscapeString(left), html.EscapeString(right))
	for _, s := range p.columns() {
		b.WriteString("<tr>")
		for _, column := range s {
			fmt.Fprintf(&b, `<td style="text-align: left"><pre>%s</pre></td>`, html.EscapeString(strings.Join(column, "\n")))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	head, rows, notes := p.rows()
	b.WriteString("<table><thead><tr><th>" + strings.Join(escaped(head), "</th><th>") + "</th></tr></thead><tbody>")
	for _, row := range rows {
		b.WriteString("<tr><td>" + strings.Join(escaped(row), "</td><td>") + "</td></tr>")
	}
	b.WriteString("</tbody></table><p>" + strings.Join(escaped(notes), "<br>") + "</p>")
	return b.String()
}

func escaped(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, html.EscapeString(t))
	}
	return out
}

func (p *Pair) text() string {
	left, right := p.names()
	var out []string
	for _, s := range append([][2][]string{{{left}, {right}}}, p.columns()...) {
		width := 40
		for _, line := range s[0] {
			width = max(width, utf8.RuneCountInString(line))
		}
		for i := range max(len(s[0]), len(s[1])) {
			out = append(out, strings.TrimRight(fmt.Sprintf("%-*s | %s", width, at(s[0], i), at(s[1], i)), " "))
		}
		out = append(out, "")
	}
	head, rows, notes := p.rows()
	widths := make([]int, len(head))
	all := append([][]string{head}, rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], cmp.Or(cell, "-"))
		}
		out = append(out, line)
	}
	return strings.Join(append(append(out, ""), notes...), "\n")
}

// wrapped breaks a line that is too long for half a page.
func wrapped(line string) (parts []string) {
	const width, indent = 56, "          "
	for len(line) > width {
		end := strings.LastIndexByte(line[:width], ' ')
		if end <= len(indent) {
			break
		}
		parts, line = append(parts, line[:end]), indent+line[end+1:]
	}
	return append(parts, line)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
