package display

import (
	"fmt"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"

	"warpbook/kernel/fallbackfont"
)

// sans is the font of every plot: gonum's Liberation Sans, which has the
// metrics of Arial and Helvetica, so that text stays in place in an SVG too.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// missingNote names the characters that a picture lacks, and the remedy.
func missingNote() string {
	reason := "the font at hand lacks them"
	if _, err := fallbackfont.Find(); err != nil {
		reason = err.Error()
	}
	return fmt.Sprintf("Some characters are drawn as boxes: %s; set %s to a .ttf, .otf or .ttc file that has them.", reason, fallbackfont.Variable)
}

// run is a piece of text that one face can set.
type run struct {
	face    font.Face
	text    string
	missing bool // no font at hand has these glyphs
}

// runs splits s so that each piece is set in face or, where face has no
// glyphs for it, in the fallback font.
func runs(face font.Face, s string) []run {
	var out []run
	for _, r := range s {
		next := run{face: face, text: string(r)}
		if !hasGlyph(face.Face, r) {
			next.missing = true
			if f, err := fallbackfont.Find(); err == nil && hasGlyph(f, r) {
				next.face, next.missing = font.Face{Font: face.Font, Face: f}, false
			}
		}
		if n := len(out); n > 0 && out[n-1].face.Face == next.face.Face && out[n-1].missing == next.missing {
			out[n-1].text += next.text
			continue
		}
		out = append(out, next)
	}
	return out
}

// width is the space that the run takes. Glyphs that are missing here, but
// that a browser may have, are taken to be as wide as in a terminal.
func (r run) width() font.Length {
	if !r.missing {
		return r.face.Width(r.text)
	}
	return r.face.Font.Size * font.Length(textWidth(r.text)) / 2
}

func hasGlyph(f *opentype.Font, r rune) bool {
	var buf sfnt.Buffer
	index, err := f.GlyphIndex(&buf, r)
	return err == nil && index != 0
}
