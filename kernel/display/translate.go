package display

import (
	"html"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/messages"
)

// A value states its texts in English. Tables, figures and lessons are translated where
// they are drawn, so that their records keep the English texts.

// translated is a bundle that a value made itself, in the language of the session. Code
// stays as it is.
func translated(data map[string]any) map[string]any {
	if messages.English() {
		return data
	}
	data = maps.Clone(data)
	for _, form := range []struct {
		mime      string
		translate func(string) string
	}{{textPlain, messages.Text}, {textMarkdown, translatedMarkdown}, {textHTML, translatedHTML}} {
		if s, ok := data[form.mime].(string); ok {
			data[form.mime] = form.translate(s)
		}
	}
	return data
}

// translatedMarkdown translates what stands between blocks of code, by paragraphs.
func translatedMarkdown(s string) string {
	const fence = "```"
	parts := strings.Split(s, fence)
	for i := 0; i < len(parts); i += 2 {
		paragraphs := strings.Split(parts[i], "\n\n")
		for j, p := range paragraphs {
			quoted, isQuoted := strings.CutPrefix(p, "> ")
			if !isQuoted {
				paragraphs[j] = messages.Text(p)
				continue
			}
			text := messages.Text(strings.TrimSpace(strings.ReplaceAll(quoted, "\n> ", "\n")))
			end := p[len(strings.TrimRight(p, "\n")):]
			paragraphs[j] = "> " + strings.ReplaceAll(text, "\n", "\n> ") + end
		}
		parts[i] = strings.Join(paragraphs, "\n\n")
	}
	return strings.Join(parts, fence)
}

// markup matches a piece of code, or one tag. The code is not translated.
var markup = lazyregexp.New(`(?is)<(?:pre|code|svg|style)\b.*?</(?:pre|code|svg|style)>|<[^<>]*>`)

// translated is the grid with cells and headings in the language of the session. A column
// of names, such as those of rungs, stays as it is.
func (g grid) translated() grid {
	if messages.English() {
		return g
	}
	names := make([]bool, g.width())
	for i := range names {
		names[i] = areNames(g.rows, i)
	}
	rows := make([][]string, len(g.rows))
	for i, row := range g.rows {
		rows[i] = slices.Clone(row)
		for j := range rows[i] {
			if !names[j] {
				rows[i][j] = messages.Text(rows[i][j])
			}
		}
	}
	g.rows, g.columns = rows, messages.Texts(g.columns)
	return g
}

var (
	identifier = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]*$`)
	ofCode     = lazyregexp.New(`[a-z]_[a-z]|[a-z][0-9]`)
)

// areNames reports whether a column holds identifiers alone, one of which is none of a text.
func areNames(rows [][]string, column int) bool {
	found := false
	for _, row := range rows {
		if column >= len(row) || row[column] == "" {
			continue
		}
		if !identifier().MatchString(row[column]) {
			return false
		}
		found = found || ofCode().MatchString(row[column])
	}
	return found
}

// translatedHTML translates the texts between the tags of a page.
func translatedHTML(s string) string {
	if messages.English() {
		return s
	}
	var b strings.Builder
	text := func(s string) {
		if t := messages.Text(html.UnescapeString(s)); t != html.UnescapeString(s) {
			s = html.EscapeString(t)
		}
		b.WriteString(s)
	}
	end := 0
	for _, at := range markup().FindAllStringIndex(s, -1) {
		text(s[end:at[0]])
		b.WriteString(s[at[0]:at[1]])
		end = at[1]
	}
	text(s[end:])
	return b.String()
}

// translated is the figure in the language of the session.
func (f *Figure) translated() *Figure {
	if messages.English() {
		return f
	}
	g, p := *f, *f.Plot
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = messages.Text(p.Title.Text), messages.Text(p.X.Label.Text), messages.Text(p.Y.Label.Text)
	translateTicks(&p.X)
	translateTicks(&p.Y)
	g.Plot, g.Notes = &p, messages.Texts(f.Notes)
	g.subtitle, g.values = messages.Text(f.subtitle), messages.Text(f.values)
	g.legend = slices.Clone(f.legend)
	for i := range g.legend {
		g.legend[i].name = messages.Text(g.legend[i].name)
	}
	return &g // the table of its numbers is translated as other tables are
}

// translateTicks translates the names of rows and columns. Numbers need no translation.
func translateTicks(a *plot.Axis) {
	ticks, ok := a.Tick.Marker.(plot.ConstantTicks)
	if !ok {
		return
	}
	ticks = slices.Clone(ticks)
	for i := range ticks {
		ticks[i].Label = messages.Text(ticks[i].Label)
	}
	a.Tick.Marker = ticks
}
