package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"golang.org/x/net/html"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// renderOutput returns safe HTML for one output of a code cell.
func renderOutput(p *prose, o *nbformat.Output, expected bool) template.HTML {
	switch o.Type {
	case nbformat.Stream:
		return block("stream "+streamClass(o.Name), terminal(o.Text))
	case nbformat.Error:
		return renderError(o, expected, p.phrases)
	}
	return renderControls(o) + renderBundle(p, o)
}

// renderControls says for which values of its controls an output was made.
func renderControls(o *nbformat.Output) template.HTML {
	values, _ := o.Metadata[record.Controls].(string)
	if values == "" {
		return ""
	}
	return template.HTML("<p><small>" + html.EscapeString(values) + "</small></p>")
}

func streamClass(name string) string {
	if name == "stderr" {
		return "stderr"
	}
	return "stdout"
}

// block wraps content, which is already HTML.
func block(class string, content template.HTML) template.HTML {
	return template.HTML(`<pre class="`+class+`" tabindex="0">`) + content + "</pre>"
}

func renderError(o *nbformat.Output, expected bool, in *phrases) template.HTML {
	class, name := "error", o.ErrorName
	if expected {
		class, name = "error expected", fmt.Sprintf(in.expected, o.ErrorName)
	}
	value := o.ErrorValue
	traceback := strings.Join(o.Traceback, "\n")
	if strings.Contains(traceback, value) {
		value = "" // shown below
	}
	body := ""
	if traceback != "" {
		body = `<pre tabindex="0">` + string(terminal(traceback)) + "</pre>"
	}
	return template.HTML(fmt.Sprintf(`<div class="%s"><p><strong>%s</strong> %s</p>%s</div>`,
		class, html.EscapeString(name), html.EscapeString(value), body))
}

// renderBundle shows the richest form of a MIME bundle that this page can show.
func renderBundle(p *prose, o *nbformat.Output) template.HTML {
	text := func(mime string) (string, bool) {
		s, ok := o.Data[mime].(string)
		return s, ok
	}
	markdown, both := text("text/markdown") // beside HTML: code, which this page highlights itself
	if s, ok := text("text/html"); ok && !both {
		e := p.environmentOf(o.Data)
		return `<div class="rich">` + sanitiseWith(s, func(root *html.Node) {
			if e != nil {
				linkEnvironment(root, e)
			}
			p.numberOnce(root)
		}) + "</div>"
	}
	if mime, uri := p.picture(o.Data); uri != "" {
		return renderPicture(p, o, mime, uri)
	}
	if both {
		return `<div class="rich">` + p.output(markdown) + "</div>"
	}
	for _, mime := range []string{"text/latex", "text/plain"} {
		if s, ok := text(mime); ok {
			return block("plain", terminal(s))
		}
	}
	return renderJSON(o.Data)
}

func renderJSON(data map[string]any) template.HTML {
	value, ok := data["application/json"]
	if !ok {
		return ""
	}
	if text, err := indented(value); err == nil {
		return block("plain", template.HTML(html.EscapeString(text)))
	}
	return ""
}

// renderPicture shows a plot at the size in its metadata, with its numbers in a folded
// section below, for readers who cannot see the plot or want the numbers.
func renderPicture(p *prose, o *nbformat.Output, mime, uri string) template.HTML {
	in := p.phrases
	plain, _ := o.Data["text/plain"].(string)
	first, _, more := strings.Cut(strings.TrimSpace(plain), "\n")
	width, height := pictureSize(o.Metadata, mime)
	var b strings.Builder
	if shown, again := p.shownOnce[uri]; again {
		return template.HTML(fmt.Sprintf(`<p class="number"><a class="number" href="#%s">%s</a></p>`, shown.id, fmt.Sprintf(in.again, shown.name)))
	}
	id, name := p.numberFigure()
	p.shownOnce[uri] = part{id, name}
	fmt.Fprintf(&b, `<figure id="%s"><figcaption><a class="number" href="#%[1]s">%s</a></figcaption>`, id, name)
	fmt.Fprintf(&b, `<img src="%s" alt="%s"`, uri, html.EscapeString(altText(first, in)))
	if width > 0 && height > 0 {
		fmt.Fprintf(&b, ` width="%d" height="%d"`, width, height)
	}
	b.WriteString(">")
	if more {
		fmt.Fprintf(&b, `<details><summary>%s</summary><pre tabindex="0">%s</pre></details>`, in.numbers, terminal(plain))
	}
	b.WriteString("</figure>")
	return template.HTML(b.String())
}

func altText(line string, in *phrases) string {
	const limit = 200
	if line == "" {
		return in.picture
	}
	if r := []rune(line); len(r) > limit {
		return string(r[:limit]) + "..."
	}
	return line
}

// pictureSize returns the size in CSS pixels. An SVG has the size of the PNG in the
// same bundle: they are one plot.
func pictureSize(metadata map[string]any, mime string) (width, height int) {
	for _, key := range []string{mime, "image/png"} {
		size, _ := metadata[key].(map[string]any)
		width, height = pixels(size["width"]), pixels(size["height"])
		if width > 0 && height > 0 {
			return width, height
		}
	}
	return 0, 0
}

func pixels(value any) int {
	var f float64
	switch value := value.(type) {
	case json.Number:
		f, _ = value.Float64()
	case float64:
		f = value
	case int:
		f = float64(value)
	}
	if f < 1 || f > 20000 {
		return 0
	}
	return int(f + 0.5)
}
