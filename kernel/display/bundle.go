package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/png"
	"reflect"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
)

// The MIME types of bundles.
const (
	textPlain    = "text/plain"
	textHTML     = "text/html"
	textMarkdown = "text/markdown"
	imagePNG     = "image/png"
	imageSVG     = "image/svg+xml"
	// recordType carries what a table says in a form that programs read.
	recordType = "application/vnd.warpbook.record+json"
)

// HTML is shown as HTML. It is not escaped.
type HTML string

// Markdown is shown as Markdown.
type Markdown string

// Text is shown as it is, in full: limits hold for other strings only.
type Text string

// What Of recognises by methods alone, so that the packages that have them
// need not know this one.
type (
	bundler interface {
		MIMEBundle() (data, metadata map[string]any)
	}
	tabler interface {
		Table() (columns []string, rows [][]string)
	}
	titler    interface{ Title() string }
	noter     interface{ Notes() []string }
	recording interface{ Record() any }
)

// Of returns the MIME bundle of v and the bundle's metadata. The first that
// fits decides: a MIMEBundle method; HTML, Markdown and Text; a Table method
// (with Title, Notes and Record where v has them); Cells and Axes methods, as
// CellChart has it; *plot.Plot; image.Image;
// error; fmt.Stringer; any other Go value, written much as in Go source and
// cut to a few lines when it is long. There is always a text/plain. A method
// of v that panics makes a bundle that says so.
func Of(v any) (data, metadata map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			data, metadata = plain(panicText(v, r)), nil
		}
	}()
	data, metadata = bundleOf(v)
	addRecord(data, v)
	return data, metadata
}

func bundleOf(v any) (data, metadata map[string]any) {
	switch v := v.(type) {
	case bundler:
		return ofBundler(v)
	case HTML:
		return map[string]any{textPlain: stripTags(string(v)), textHTML: string(v)}, nil
	case Markdown:
		return map[string]any{textPlain: string(v), textMarkdown: string(v)}, nil
	case Text:
		return plain(string(v)), nil
	case tabler:
		return gridOf(v).bundle(), nil
	case celler:
		return ofCells(v)
	case *plot.Plot:
		return ofPlot(v)
	case image.Image:
		return ofImage(v)
	case error:
		return plain(cut(v.Error(), maxText)), nil
	case fmt.Stringer:
		return plain(cut(v.String(), maxText)), nil
	}
	return plain(goText(v)), nil
}

func plain(s string) map[string]any { return map[string]any{textPlain: s} }

// ofBundler takes v's own bundle as it is, once it is known that it can be
// encoded: an event that cannot be would be lost without a word.
func ofBundler(v bundler) (data, metadata map[string]any) {
	data, metadata = v.MIMEBundle()
	if _, err := json.Marshal([]any{data, metadata}); err != nil {
		return plain(fmt.Sprintf("display: %T: MIME bundle cannot be encoded: %v", v, err)), nil
	}
	if data == nil {
		data = map[string]any{}
	}
	return data, metadata
}

func addRecord(data map[string]any, v any) {
	r, ok := v.(recording)
	if !ok || data[recordType] != nil {
		return
	}
	encoded, err := json.Marshal(r.Record())
	if err != nil {
		data[textPlain] = fmt.Sprintf("%v\ndisplay: record of %T left out: %v", data[textPlain], v, err)
		delete(data, textHTML) // which would hide the note
		return
	}
	data[recordType] = json.RawMessage(encoded)
}

// maxPixels bounds the images that are encoded: 64 Mpixel are 256 MiB.
const maxPixels = 64 << 20

func ofImage(img image.Image) (data, metadata map[string]any) {
	if isNil(img) {
		return plain("<nil>"), nil
	}
	size := img.Bounds().Size()
	caption := fmt.Sprintf("%T, %d x %d pixels", img, size.X, size.Y)
	if size.X <= 0 || size.Y <= 0 || size.X > maxPixels/size.Y {
		return plain(caption + ": not drawn"), nil
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return plain(fmt.Sprintf("%s: %v", caption, err)), nil
	}
	data = plain(caption)
	data[imagePNG] = base64.StdEncoding.EncodeToString(buf.Bytes())
	return data, map[string]any{imagePNG: map[string]any{"width": size.X, "height": size.Y}}
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// panicText says what panicked. A nil pointer whose methods do not expect one
// is shown as nil, as package fmt does.
func panicText(v, r any) string {
	if isNil(v) {
		return fmt.Sprintf("(%T)(nil)", v)
	}
	return fmt.Sprintf("display: %T: panic: %s", v, cut(fmt.Sprint(r), maxText))
}

// cut returns s, or its first max bytes and a line that says how long it is.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return fmt.Sprintf("%s…\n(%d bytes, the first %d shown; display.Text shows all)", strings.ToValidUTF8(s[:max], ""), len(s), max)
}

// tag matches one HTML tag and captures the names that end a line.
var tag = regexp.MustCompile(`(?i)</?(p|div|br|tr|li|ul|ol|table|h[1-6])?\b[^<>]*>`)

// stripTags gives the words of an HTML text to readers without a browser.
func stripTags(s string) string {
	s = tag.ReplaceAllStringFunc(s, func(t string) string {
		if tag.FindStringSubmatch(t)[1] != "" {
			return "\n"
		}
		return " "
	})
	var lines []string
	for line := range strings.Lines(html.UnescapeString(s)) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return cut(strings.Join(lines, "\n"), maxText)
}
