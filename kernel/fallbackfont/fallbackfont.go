// Package fallbackfont finds a font on this computer for the characters that Liberation
// lacks, Chinese above all. Its function is Find. Plots and PDF reports call it. It
// imports no package of this module.
package fallbackfont

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/image/font/sfnt"
)

// Variable names the environment variable with a font file to use before all others.
const Variable = "WARPBOOK_FONT"

// files are where systems keep a font with Chinese glyphs.
var files = []string{
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

// Find returns the font, or the reason why there is none. It looks once; the file stays
// open, because glyphs are read when they are drawn and such files are large.
var Find = sync.OnceValues(func() (*sfnt.Font, error) {
	if file := os.Getenv(Variable); file != "" {
		return read(file)
	}
	for _, file := range files {
		if f, err := read(file); err == nil {
			return f, nil
		}
	}
	return nil, errors.New("no font with Chinese characters in the usual places")
})

// read reads a font file. Of a collection it takes the face for simplified Chinese, or
// else the first.
func read(file string) (*sfnt.Font, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	fonts, err := sfnt.ParseCollectionReaderAt(f)
	if err == nil {
		var chosen *sfnt.Font
		if chosen, err = choose(fonts); err == nil {
			return chosen, nil
		}
	}
	f.Close()
	return nil, fmt.Errorf("font %s: %w", file, err)
}

func choose(fonts *sfnt.Collection) (*sfnt.Font, error) {
	for i := range fonts.NumFonts() {
		if f, err := fonts.Font(i); err == nil {
			if name, err := f.Name(nil, sfnt.NameIDFull); err == nil && strings.Contains(name+" ", " SC ") {
				return f, nil
			}
		}
	}
	return fonts.Font(0)
}
