package display

import (
	"fmt"
	"html"
	"strings"
)

// verdictColors tint the words of a verdict by whether they count as passed;
// they are read without it. Both colours have a contrast of 4 or more on white
// and on JupyterLab's dark background.
var verdictColors = map[string]string{
	"PASS":                    passed,
	"FAIL (expected)":         passed,
	"FAIL":                    failed,
	"PASS (failure expected)": failed,
}

const (
	passed = "#2a8a44"
	failed = "#d9413a"
)

// html is the table without classes or scripts, for notebooks that are not
// trusted. Where styles are stripped too, only alignment and colour are lost.
func (g grid) html() string {
	numeric := g.numeric()
	var b strings.Builder
	if g.title != "" {
		fmt.Fprintf(&b, "<p><strong>%s</strong></p>\n", html.EscapeString(g.title))
	}
	b.WriteString("<table>\n<thead>")
	g.htmlRow(&b, "th", g.columns, numeric)
	b.WriteString("</thead>\n<tbody>\n")
	for _, row := range g.rows {
		g.htmlRow(&b, "td", row, numeric)
		b.WriteString("\n")
	}
	b.WriteString("</tbody>\n</table>")
	if len(g.notes) > 0 {
		fmt.Fprintf(&b, "\n<p><small>%s</small></p>", escapeLines(strings.Join(g.notes, "\n")))
	}
	return b.String()
}

func (g grid) htmlRow(b *strings.Builder, element string, row []string, numeric []bool) {
	b.WriteString("<tr>")
	for i := range numeric {
		text, side := "", "left"
		if i < len(row) {
			text = row[i]
		}
		if numeric[i] {
			side = "right"
			if number.MatchString(text) { // a narrow table would break it at its groups
				text = strings.ReplaceAll(text, " ", "\u00a0")
			}
		}
		fmt.Fprintf(b, `<%s style="text-align: %s">%s</%s>`, element, side, htmlCell(text), element)
	}
	b.WriteString("</tr>")
}

func htmlCell(s string) string {
	if color := verdictColors[s]; color != "" {
		return fmt.Sprintf(`<strong style="color: %s">%s</strong>`, color, html.EscapeString(s))
	}
	return escapeLines(s)
}

func escapeLines(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "\n", "<br>")
}
