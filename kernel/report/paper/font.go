package paper

import (
	"errors"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansbolditalic"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"

	"warpbook/kernel/fallbackfont"
)

// The families of a page. Fallback has the characters that Liberation lacks.
const (
	sans     = "sans"
	mono     = "mono"
	fallback = "fallback"
)

// faces are the font files: Liberation 2 (SIL Open Font License 1.1), 2.3 MB in the
// program. A PDF has the glyphs that it uses only.
var faces = []struct {
	family, style string
	data          []byte
}{
	{sans, "", liberationsansregular.TTF},
	{sans, "B", liberationsansbold.TTF},
	{sans, "I", liberationsansitalic.TTF},
	{sans, "BI", liberationsansbolditalic.TTF},
	{mono, "", liberationmonoregular.TTF},
	{mono, "B", liberationmonobold.TTF},
}

// replacement stands for a character that no font has.
const replacement = '\ufffd'

// fonts are the fonts of one document.
type fonts struct {
	pdf      *fpdf.Fpdf
	coverage map[string]*sfnt.Font
	covered  map[coverageKey]bool
	extra    map[rune]bool // in the fallback font
	missing  map[rune]bool
	widths   map[widthKey]float64 // of a size of 1
}

type coverageKey struct {
	family string
	r      rune
}

type widthKey struct {
	family, style string
	r             rune
}

// newFonts loads the fonts for a document with this text. An error names the Chinese
// characters for which there is no font.
func newFonts(pdf *fpdf.Fpdf, text string) (*fonts, error) {
	f := &fonts{pdf: pdf, coverage: map[string]*sfnt.Font{}, covered: map[coverageKey]bool{}, extra: map[rune]bool{}, missing: map[rune]bool{}, widths: map[widthKey]float64{}}
	for _, face := range faces {
		pdf.AddUTF8FontFromBytes(face.family, face.style, face.data)
		if face.style == "" {
			parsed, err := sfnt.Parse(face.data)
			if err != nil {
				return nil, err
			}
			f.coverage[face.family] = parsed
		}
	}
	needed := map[rune]bool{}
	for _, r := range html.UnescapeString(text) {
		_, level := levels[r]
		if r > ' ' && !level && !f.has(sans, r) && !unicode.IsControl(r) {
			needed[r] = true
		}
	}
	return f, f.addFallback(needed)
}

// addFallback embeds the characters that Liberation lacks from a font of this computer.
func (f *fonts) addFallback(needed map[rune]bool) error {
	if len(needed) == 0 {
		return nil
	}
	from, reason := fallbackfont.Find()
	chinese := 0
	for r := range needed {
		if reason == nil && r <= 0xffff && hasGlyph(from, r) {
			f.extra[r] = true
			continue
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			chinese++
		}
		if !f.has(mono, r) {
			f.missing[r] = true
		}
	}
	if chinese > 0 {
		if reason == nil {
			reason = errors.New("the font that was found lacks them")
		}
		return fmt.Errorf("%d different Chinese characters cannot be set: %w, expected a font that has them: install fonts-noto-cjk or set %s to a .ttf, .otf or .ttc file", chinese, reason, fallbackfont.Variable)
	}
	if len(f.extra) == 0 {
		return nil
	}
	data, err := subset(from, "fallback", slices.Sorted(maps.Keys(f.extra)))
	if err != nil {
		return fmt.Errorf("the font of %s: %w", fallbackfont.Variable, err)
	}
	f.pdf.AddUTF8FontFromBytes(fallback, "", data)
	return f.pdf.Error()
}

func hasGlyph(f *sfnt.Font, r rune) bool {
	var buf sfnt.Buffer
	index, err := f.GlyphIndex(&buf, r)
	return err == nil && index != 0
}

func (f *fonts) has(family string, r rune) bool {
	key := coverageKey{family, r}
	known, ok := f.covered[key]
	if !ok {
		known = r <= 0xffff && hasGlyph(f.coverage[family], r)
		f.covered[key] = known
	}
	return known
}

// familyOf returns the family that sets r in a text of the given family, and the
// character to set.
func (f *fonts) familyOf(family string, r rune) (string, rune) {
	switch {
	case family == fallback:
		return family, r
	case f.has(family, r):
		return family, r
	case f.extra[r]:
		return fallback, r
	case f.has(sans, r):
		return sans, r
	case f.has(mono, r):
		return mono, r
	}
	return sans, replacement
}

// width is the width of r in points.
func (f *fonts) width(s style, r rune) float64 {
	family, r := f.familyOf(s.family, r)
	weight := s.weight()
	if family == fallback {
		weight = ""
	} else if family == mono {
		weight = strings.Trim(weight, "I")
	}
	key := widthKey{family, weight, r}
	w, ok := f.widths[key]
	if !ok {
		f.pdf.SetFont(family, weight, 1000)
		w = f.pdf.GetStringWidth(string(r)) / 1000
		f.widths[key] = w
	}
	return w * s.size
}

func (f *fonts) textWidth(s style, text string) (w float64) {
	for _, r := range text {
		w += f.width(s, r)
	}
	return w
}

// write sets text with its left end at x, on the baseline y, and returns its right end.
func (f *fonts) write(s style, x, y float64, text string) float64 {
	var piece strings.Builder
	current := ""
	flush := func() {
		if piece.Len() == 0 {
			return
		}
		weight := s.weight()
		switch {
		case current == fallback && strings.Contains(weight, "B"):
			// The fallback has one weight: bold is drawn with an outline.
			f.pdf.SetDrawColor(s.color.r, s.color.g, s.color.b)
			f.pdf.SetLineWidth(s.size / 30)
			f.pdf.SetTextRenderingMode(2)
			weight = ""
		case current == fallback:
			weight = ""
		case current == mono:
			weight = strings.Trim(weight, "I")
		}
		f.pdf.SetFont(current, weight, s.size)
		f.pdf.SetTextColor(s.color.r, s.color.g, s.color.b)
		f.pdf.Text(x, y, piece.String())
		f.pdf.SetTextRenderingMode(0)
		for _, r := range piece.String() {
			x += f.width(style{family: current, bold: s.bold, italic: s.italic, size: s.size}, r)
		}
		piece.Reset()
	}
	for _, r := range text {
		family, r := f.familyOf(s.family, r)
		if family != current {
			flush()
			current = family
		}
		piece.WriteRune(r)
	}
	flush()
	return x
}
