package display

import (
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"strings"

	"warpbook/kernel/leaf/record"
)

// composed is a bundle of what a function has printed, shown and returned.
type composed struct{ data, metadata map[string]any }

func (c *composed) MIMEBundle() (data, metadata map[string]any) { return c.data, c.metadata }

// compose makes one bundle of pieces. A single bundle stays as it is; several are parts
// of one page, because an output that has been shown cannot become two.
func compose(pieces []Piece) (*composed, error) {
	if len(pieces) == 1 && pieces[0].Data != nil {
		return &composed{pieces[0].alone(), orEmpty(maps.Clone(pieces[0].Metadata))}, nil
	}
	var texts []string
	var page strings.Builder
	var records []any
	rich := false
	for _, p := range pieces {
		text := p.Text
		if p.Data != nil {
			text, _ = p.Data[textPlain].(string)
			rich = rich || len(p.Data) > 1
		}
		if r := p.Data[record.MIME]; r != nil {
			records = append(records, r)
		}
		texts = append(texts, strings.TrimSuffix(text, "\n"))
		page.WriteString(p.html(text))
	}
	if len(records) > 1 {
		return nil, fmt.Errorf("display: interact: the result has %d tables with records, expected at most 1: one output holds one record", len(records))
	}
	all := &composed{plain(strings.Join(texts, "\n")), map[string]any{}}
	if rich {
		all.data[textHTML] = page.String()
	}
	if len(records) == 1 {
		all.data[record.MIME] = records[0]
	}
	return all, nil
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// alone is the bundle of a piece without others. A picture of vectors is also an image
// of a page, which is shown where the notebook is not trusted.
func (p Piece) alone() map[string]any {
	data := maps.Clone(p.Data)
	if _, whole := data[imagePNG]; !whole && data[imageSVG] != nil {
		text, _ := data[textPlain].(string)
		data[textHTML] = p.html(text)
	}
	return data
}

// html is a piece as a part of a page.
func (p Piece) html(text string) string {
	if page, ok := p.Data[textHTML].(string); ok {
		return page
	}
	size := ""
	for _, mime := range []string{imagePNG, imageSVG} {
		if s, ok := p.Metadata[mime].(map[string]any); ok {
			size = fmt.Sprintf(` width="%v" height="%v"`, s["width"], s["height"])
		}
	}
	alt, _, _ := strings.Cut(text, "\n")
	if svg, ok := p.Data[imageSVG].(string); ok {
		return picturePart("image/svg+xml", base64.StdEncoding.EncodeToString([]byte(svg)), alt, size)
	}
	if png, ok := p.Data[imagePNG].(string); ok {
		return picturePart(imagePNG, png, alt, size)
	}
	if text == "" {
		return ""
	}
	return "<pre>" + html.EscapeString(text) + "</pre>"
}

func picturePart(mime, encoded, alt, size string) string {
	return fmt.Sprintf(`<p><img src="data:%s;base64,%s" alt="%s"%s></p>`, mime, encoded, html.EscapeString(alt), size)
}

// failure is the bundle of a call that has failed: what it printed, and the reason.
func failure(pieces []Piece, reason string) *composed {
	var page, printed strings.Builder
	for _, p := range pieces {
		printed.WriteString(p.Text)
	}
	text := printed.String()
	if text != "" {
		page.WriteString("<pre>" + html.EscapeString(text) + "</pre>")
	}
	fmt.Fprintf(&page, `<pre style="color: %s">%s</pre>`, failed, html.EscapeString(reason))
	return &composed{map[string]any{textPlain: text + reason, textHTML: page.String()}, map[string]any{}}
}
