package display

import (
	"fmt"
	"html"
	"strings"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/messages"
)

// verdictColors tint a verdict by whether it counts as passed. The words carry the
// meaning, not the colours. Both colours have a contrast of 4 or more on white
// and on JupyterLab's dark background.
var verdictColors = map[string]string{
	record.Pass:           passed,
	record.FailExpected:   passed,
	record.Fail:           failed,
	record.PassUnexpected: failed,
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
		fmt.Fprintf(&b, "<p><strong>%s</strong></p>\n", html.EscapeString(messages.Text(g.title)))
	}
	for i, part := range g.split(g.narrowest()) {
		if i > 0 {
			b.WriteString("\n")
		}
		part.htmlTable(&b)
	}
	shown, folded := foldedNotes(g.notes)
	if len(shown) > 0 {
		fmt.Fprintf(&b, "\n<p><small>%s</small></p>", escapeLines(strings.Join(messages.Texts(shown), "\n")))
	}
	if len(folded) > 0 {
		fmt.Fprintf(&b, "\n<details><summary><small>%s</small></summary><small>%s</small></details>",
			html.EscapeString(summaryOf(folded)), escapeLines(strings.Join(messages.Texts(folded), "\n")))
	}
	return b.String()
}

// foldedNotes separates notes that all tables repeat (method and environment) from the
// notes of one table.
func foldedNotes(notes []string) (shown, folded []string) {
	for _, note := range notes {
		switch name, _, _ := strings.Cut(note, " "); name {
		case "method:", "device:", "error":
			folded = append(folded, note)
		default:
			shown = append(shown, note)
		}
	}
	return shown, folded
}

// summaryOf is the visible line of folded notes. It names the device.
func summaryOf(notes []string) string {
	for _, note := range notes {
		if device, found := strings.CutPrefix(note, "device: "); found {
			device, _, _ = strings.Cut(device, ";")
			return messages.Text(device) + ": " + messages.Text("method and environment")
		}
	}
	return messages.Text("method and environment")
}

func (g grid) htmlTable(b *strings.Builder) {
	numeric, shown := g.numeric(), g.translated()
	remarks := shown.remarkWidths(numeric)
	b.WriteString("<table>\n<thead>")
	g.htmlRow(b, "th", shown.columns, numeric, remarks)
	b.WriteString("</thead>\n<tbody>\n")
	for _, row := range shown.rows {
		g.htmlRow(b, "td", row, numeric, remarks)
		b.WriteString("\n")
	}
	b.WriteString("</tbody>\n</table>")
}

// remarkLetter is about as wide as a letter of a remark.
const remarkLetter = "\u00a0\u00a0"

func (g grid) htmlRow(b *strings.Builder, element string, row []string, numeric []bool, remarks []int) {
	b.WriteString("<tr>")
	for i := range numeric {
		text, style := "", "text-align: left"
		if i < len(row) {
			text = row[i]
		}
		if numeric[i] {
			style = "text-align: right"
		}
		if numeric[i] && isNumber(text) { // otherwise a narrow table breaks it at its groups, or at its sign
			room := remarks[i] - remarkWidth(text)
			text = strings.ReplaceAll(text, " ", "\u00a0") + strings.Repeat(remarkLetter, room)
			style += "; white-space: nowrap"
		}
		fmt.Fprintf(b, `<%s style="%s">%s</%s>`, element, style, htmlCell(text), element)
	}
	b.WriteString("</tr>")
}

func htmlCell(s string) string {
	for verdict, color := range verdictColors {
		if s == verdict || s == messages.Text(verdict) {
			return fmt.Sprintf(`<strong style="color: %s">%s</strong>`, color, html.EscapeString(s))
		}
	}
	return breakable(s)
}

// breakable marks the places of s where a line may end within a long word.
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
