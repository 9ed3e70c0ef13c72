package display

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
)

// sans is the font of every plot: gonum's Liberation Sans, which has the
// metrics of Arial and Helvetica, so that text stays in place in an SVG too.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// fontVariable names the environment variable with a font file for glyphs
// that Liberation lacks, Chinese above all.
const fontVariable = "WARPBOOK_FONT"

// fallbackFiles are where systems keep a font with Chinese glyphs.
var fallbackFiles = []string{
	"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
	"/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
	"/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
	"/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf",
	"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
	"/System/Library/Fonts/PingFang.ttc",
	"/System/Library/Fonts/Hiragino Sans GB.ttc",
	"/System/Library/Fonts/STHeiti Light.ttc",
	"/mnt/c/Windows/Fonts/msyh.ttc",
}

// fallback is the font for glyphs that a plot's own font lacks, or else why
// there is none. It is looked for at the first such glyph.
var fallback = sync.OnceValues(func() (*opentype.Font, error) {
	if file := os.Getenv(fontVariable); file != "" {
		return readFont(file)
	}
	for _, file := range fallbackFiles {
		if f, err := readFont(file); err == nil {
			return f, nil
		}
	}
	return nil, errors.New("no font with Chinese characters in the usual places")
})

// readFont reads the first font of a file, which stays open: glyphs are read
// when they are drawn, and such files are large.
func readFont(file string) (*opentype.Font, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	fonts, err := opentype.ParseCollectionReaderAt(f)
	if err == nil {
		var first *opentype.Font
		if first, err = fonts.Font(0); err == nil {
			return first, nil
		}
	}
	f.Close()
	return nil, fmt.Errorf("font %s: %w", file, err)
}

// missingNote says what a picture lacks, and the remedy.
func missingNote() string {
	reason := "the font at hand lacks them"
	if _, err := fallback(); err != nil {
		reason = err.Error()
	}
	return fmt.Sprintf("Some characters are drawn as boxes: %s; set %s to a .ttf, .otf or .ttc file that has them.", reason, fontVariable)
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
			if f, err := fallback(); err == nil && hasGlyph(f, r) {
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
