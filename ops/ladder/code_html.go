package ladder

import (
	"fmt"
	"strings"

	"warpbook/kernel/leaf/highlight"
)

// MIMEBundle is the text, a fenced block of Markdown, and HTML with colours. JupyterLab
// has no colours for CUDA in Markdown, and breaks its lines inside of tokens.
// What is folded unfolds in HTML, and is counted elsewhere.
func (c Code) MIMEBundle() (data, metadata map[string]any) {
	text := c.Text[:len(c.Text)-c.Folded]
	if c.Folded > 0 {
		text += fmt.Sprintf("\n// ... %d more lines\n", c.foldedLines())
	}
	return map[string]any{
		"text/plain":    text,
		"text/markdown": "```" + c.Language + "\n" + text + "```\n",
		"text/html":     c.html(),
	}, map[string]any{}
}

func (c Code) foldedLines() int { return strings.Count(c.Text[len(c.Text)-c.Folded:], "\n") }

// tokenColours are those of JupyterLab's editor, in its light and dark themes, and else
// those of a light page.
var tokenColours = map[string]string{
	"k": "var(--jp-mirror-editor-keyword-color, #008000)",
	"t": "var(--jp-mirror-editor-builtin-color, #008000)",
	"s": "var(--jp-mirror-editor-string-color, #ba2121)",
	"m": "var(--jp-mirror-editor-number-color, #0a7060)",
	"c": "var(--jp-mirror-editor-comment-color, #3d6b6b)",
	"p": "var(--jp-mirror-editor-meta-color, #a2f)",
	"f": "var(--jp-mirror-editor-def-color, #00f)",
}

func tokenStyle(kind string) string { return `style="color: ` + tokenColours[kind] + `"` }

// lineColours are the backgrounds of lines that a diff adds and removes, so pale that text
// of a light and of a dark theme is readable on them.
var lineColours = map[byte]string{'+': "rgba(46, 160, 67, 0.18)", '-': "rgba(248, 81, 73, 0.18)"}

// html is the code, and what is folded below it.
func (c Code) html() string {
	page := c.block(c.Text[:len(c.Text)-c.Folded])
	if c.Folded > 0 {
		page += fmt.Sprintf("<details><summary>The other %d lines</summary>%s</details>", c.foldedLines(), c.block(c.Text[len(c.Text)-c.Folded:]))
	}
	return page
}

// block scrolls sideways: a line is not broken.
func (c Code) block(lines string) string {
	var b strings.Builder
	b.WriteString(`<pre style="white-space: pre; overflow-x: auto">`)
	for line := range strings.Lines(lines) {
		code, mark := line, ""
		if c.Language == "diff" {
			mark, code = line[:1], line[1:]
		}
		text := mark + highlight.HTML(strings.TrimSuffix(code, "\n"), "cuda", tokenStyle)
		if colour := lineColours[line[0]]; colour != "" && mark != "" {
			text = `<span style="background-color: ` + colour + `">` + text + "</span>"
		}
		b.WriteString(text + "\n")
	}
	b.WriteString("</pre>")
	return b.String()
}
