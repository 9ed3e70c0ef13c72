package display

import (
	"math"
	"sort"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// typesetter is gonum's plain text handler with font fallback: it measures
// and places text run by run, where gonum takes missing glyphs for narrow
// boxes and draws nothing.
type typesetter struct{ text.Plain }

var house = typesetter{text.Plain{Fonts: font.DefaultCache}}

func (t typesetter) Box(s string, f font.Font) (width, height, depth vg.Length) {
	face := t.Fonts.Lookup(f, f.Size)
	for _, r := range runs(face, s) {
		width += r.width()
	}
	extents := face.Extents()
	return width, extents.Ascent, extents.Descent
}

func (t typesetter) Draw(c vg.Canvas, s string, sty text.Style, pt vg.Point) {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return
	}
	face := t.Fonts.Lookup(sty.Font, sty.Font.Size)
	c.SetColor(sty.Color)
	c.Push()
	defer c.Pop()
	c.Rotate(sty.Rotation)
	sin, cos := math.Sincos(sty.Rotation)
	x, y := float64(pt.X), float64(pt.Y)
	pt.X, pt.Y = vg.Length(y*sin+x*cos), vg.Length(y*cos-x*sin)

	lines := t.Lines(s)
	pt.Y += sty.Height(s)*vg.Length(sty.YAlign) - face.Extents().Ascent
	if sty.YAlign == text.YCenter { // gonum's axes place such labels a little high
		pt.Y -= sty.Font.Size / 10
	}
	for i, line := range lines {
		width, _, _ := t.Box(line, sty.Font)
		at := vg.Point{X: pt.X + vg.Length(sty.XAlign)*width, Y: pt.Y + vg.Length(len(lines)-i)*sty.Font.Size}
		c.FillString(face, at, line) // split into runs by the page
	}
}

// wrap breaks s into lines no wider than width: between words, and within a
// word that is wider than a line, as a sentence in Chinese is.
func wrap(s string, sty text.Style, width vg.Length) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && sty.Width(longer) > width {
			lines, longer = append(lines, line), word
		}
		for sty.Width(longer) > width {
			fits := max(fitting(longer, sty, width), 1)
			runes := []rune(longer)
			lines, longer = append(lines, string(runes[:fits])), string(runes[fits:])
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fitting is how many of the runes of s fit in width.
func fitting(s string, sty text.Style, width vg.Length) int {
	runes := []rune(s)
	return sort.Search(len(runes), func(n int) bool { return sty.Width(string(runes[:n+1])) > width })
}

// shorten returns s, cut with an ellipsis if it is wider than width.
func shorten(s string, sty text.Style, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	ellipsis := "…"
	return string([]rune(s)[:fitting(s, sty, width-sty.Width(ellipsis))]) + ellipsis
}
