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

// html is the table, in parts if it is wide, without classes or scripts, for
// notebooks that are not trusted. Where styles are stripped too, only alignment
// and colour are lost.
func (g grid) html() string {
	var b strings.Builder
	if g.title != "" {
		fmt.Fprintf(&b, "<p><strong>%s</strong></p>\n", html.EscapeString(g.title))
	}
	for i, part := range g.split(g.narrowest()) {
		if i > 0 {
			b.WriteString("\n")
		}
		part.htmlTable(&b)
	}
	if len(g.notes) > 0 {
		fmt.Fprintf(&b, "\n<p><small>%s</small></p>", escapeLines(strings.Join(g.notes, "\n")))
	}
	return b.String()
}

func (g grid) htmlTable(b *strings.Builder) {
	numeric := g.numeric()
	b.WriteString("<table>\n<thead>")
	g.htmlRow(b, "th", g.columns, numeric)
	b.WriteString("</thead>\n<tbody>\n")
	for _, row := range g.rows {
		g.htmlRow(b, "td", row, numeric)
		b.WriteString("\n")
	}
	b.WriteString("</tbody>\n</table>")
}

func (g grid) htmlRow(b *strings.Builder, element string, row []string, numeric []bool) {
	b.WriteString("<tr>")
	for i := range numeric {
		text, style := "", "text-align: left"
		if i < len(row) {
			text = row[i]
		}
		if numeric[i] {
			style = "text-align: right"
		}
		if numeric[i] && isNumber(text) { // a narrow table would break it at its groups, or at its sign
			text = strings.ReplaceAll(text, " ", "\u00a0")
			style += "; white-space: nowrap"
		}
		fmt.Fprintf(b, `<%s style="%s">%s</%s>`, element, style, htmlCell(text), element)
	}
	b.WriteString("</tr>")
}

func htmlCell(s string) string {
	if color := verdictColors[s]; color != "" {
		return fmt.Sprintf(`<strong style="color: %s">%s</strong>`, color, html.EscapeString(s))
	}
	return breakable(s)
}

// breakable is s with the places marked at which a line may end in a long word.
func breakable(s string) string {
	prose := isProse(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		words := strings.Split(line, " ")
		for j, word := range words {
			parts := pieces(word, prose)
			for k := range parts {
				parts[k] = html.EscapeString(parts[k])
			}
			words[j] = strings.Join(parts, "<wbr>")
		}
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, "<br>")
}

func escapeLines(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "\n", "<br>")
}
