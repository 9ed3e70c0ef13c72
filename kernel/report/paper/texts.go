package paper

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"
)

// Texts returns the texts of each page of a PDF of Write, a line for each piece in one
// font. Tests read PDFs with it.
func Texts(pdf []byte) (pages []string) {
	// Compiled here: only tests need them.
	pdfStream := regexp.MustCompile(`(?s)/FlateDecode /Length \d+>>\nstream\n(.*?)\nendstream`)
	pdfText := regexp.MustCompile(`(?s)BT [-\d.]+ [-\d.]+ Td \(((?:[^\\)]|\\.)*)\) ?Tj`)
	pdfEscape := regexp.MustCompile(`(?s)\\(.)`)
	for _, m := range pdfStream.FindAllSubmatch(pdf, -1) {
		r, err := zlib.NewReader(bytes.NewReader(m[1]))
		if err != nil {
			continue
		}
		content, _ := io.ReadAll(r) // a damaged stream gives what can be read
		var b strings.Builder
		for _, s := range pdfText.FindAllSubmatch(content, -1) {
			raw := pdfEscape.ReplaceAllFunc(s[1], func(e []byte) []byte {
				if e[1] == 'r' {
					return []byte("\r")
				}
				return e[1:]
			})
			var units []uint16
			for i := 0; i+1 < len(raw); i += 2 {
				units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
			}
			b.WriteString(string(utf16.Decode(units)))
			b.WriteByte('\n')
		}
		if b.Len() > 0 {
			pages = append(pages, b.String())
		}
	}
	return pages
}
