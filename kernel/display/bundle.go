package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"image"
	"image/png"
	"reflect"
	"strings"

	"gonum.org/v1/plot"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/record"
	"warpbook/kernel/messages"
)

// The MIME types of bundles.
const (
	textPlain    = "text/plain"
	textHTML     = "text/html"
	textMarkdown = "text/markdown"
	imagePNG     = "image/png"
	imageSVG     = "image/svg+xml"
)

// HTML is shown as HTML. It is not escaped.
type HTML string

// Markdown is shown as Markdown.
type Markdown string

// Text is shown as it is, in full: limits hold for other strings only.
type Text string

// Interfaces that Of recognises, so that packages with such values need not import
// this one.
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

	// drawing is a figure or chart of this package. Its method returns a bundle, and an
	// error if only the text could be made.
	drawing interface {
		drawing() (data, metadata map[string]any, err error)
	}
)

// Of returns the MIME bundle of v and the bundle's metadata. The first that
// fits decides: a MIMEBundle method; HTML, Markdown and Text; a Table method
// (with Title, Notes and Record where v has them); Cells and Axes methods, as
// CellChart has it; a Bars method; *plot.Plot; image.Image;
// error; fmt.Stringer; fmt.GoStringer; any other Go value, written much as in
// Go source and cut to a few lines when it is long. There is always a text/plain. A method
// of v that panics makes a bundle that says so.
func Of(v any) (data, metadata map[string]any) {
	data, metadata, _ = Draw(v)
	return data, metadata
}

// Draw is Of with an error if a chart cannot be drawn, or a table or its record cannot
// be made. The bundle then holds the reason and as much text as could be made.
func Draw(v any) (data, metadata map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			text := panicText(v, r)
			data, metadata = plain(text), nil
			if drawn(v) && !isNil(v) {
				err = errors.New(text)
			}
		}
	}()
	data, metadata, err = bundleOf(v)
	return data, metadata, errors.Join(err, addRecord(data, v))
}

// ours reports whether v is of a type of this package, and not of one that embeds it
// and may have a MIMEBundle method of its own.
func ours(v any) bool {
	switch v.(type) {
	case *Figure, *Lesson, BarChart, *BarChart, LatencyChart, *LatencyChart, LineChart, *LineChart, CellChart, *CellChart, Timeline, *Timeline, vectors:
		return true
	}
	return false
}

// drawn reports whether v is shown as more than a text.
func drawn(v any) bool {
	switch v.(type) {
	case bundler, tabler, celler, barrer, *plot.Plot, recording:
		return true
	}
	return false
}

func bundleOf(v any) (data, metadata map[string]any, err error) {
	if d, ok := v.(drawing); ok && ours(v) {
		return d.drawing()
	}
	switch v := v.(type) {
	case bundler:
		return ofBundler(v)
	case HTML:
		page := translatedHTML(string(v))
		return map[string]any{textPlain: stripTags(page), textHTML: page}, nil, nil
	case Markdown:
		text := messages.Text(string(v))
		return map[string]any{textPlain: text, textMarkdown: text}, nil, nil
	case Text:
		return plain(messages.Text(string(v))), nil, nil
	case tabler:
		return gridOf(v).bundle(), nil, nil
	case celler:
		return chartOf(v).drawing()
	case barrer:
		return barsOf(v).drawing()
	case *plot.Plot:
		return (&Figure{Plot: v}).drawing()
	case image.Image:
		data, metadata = ofImage(v)
		return data, metadata, nil
	case fmt.Formatter:
		return plain(cut(fmt.Sprint(v), maxText)), nil, nil
	case error:
		return plain(cut(v.Error(), maxText)), nil, nil
	case fmt.Stringer:
		return plain(cut(messages.Text(v.String()), maxText)), nil, nil
	case fmt.GoStringer:
		return plain(cut(v.GoString(), maxText)), nil, nil
	case string:
		return plain(goText(messages.Text(v))), nil, nil
	}
	return plain(goText(v)), nil, nil
}

func plain(s string) map[string]any { return map[string]any{textPlain: s} }

// ofBundler takes v's own bundle unchanged, after a test that it can be encoded: an
// event that cannot be encoded would be lost without a message.
func ofBundler(v bundler) (data, metadata map[string]any, err error) {
	data, metadata = v.MIMEBundle()
	if _, err := json.Marshal([]any{data, metadata}); err != nil {
		err = fmt.Errorf("display: %T: MIME bundle cannot be encoded: %w", v, err)
		return plain(err.Error()), nil, err
	}
	if data == nil {
		data = map[string]any{}
	}
	return translated(data), metadata, nil
}

// addRecord adds v's record. Without it the rows of a table would not count in the
// verdict of a run.
func addRecord(data map[string]any, v any) error {
	r, ok := v.(recording)
	if !ok || data[record.MIME] != nil {
		return nil
	}
	encoded, err := json.Marshal(r.Record())
	if err != nil {
		err = fmt.Errorf("display: record of %T left out: %w", v, err)
		data[textPlain] = fmt.Sprintf("%v\n%v", data[textPlain], err)
		delete(data, textHTML) // which would hide the note
		return err
	}
	data[record.MIME] = json.RawMessage(encoded)
	return nil
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

// panicText is the text of a value whose method panicked. A nil pointer whose methods
// do not expect one is shown as nil, as package fmt does.
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
var tag = lazyregexp.New(`(?i)</?(p|div|br|tr|li|ul|ol|table|h[1-6])?\b[^<>]*>`)

// maxStripped is how much of an HTML text is made text.
const maxStripped = maxText

// stripTags returns the words of an HTML text, for readers without a browser.
func stripTags(s string) string {
	note := ""
	if len(s) > maxStripped { // the regular expression would take a second for 5 MB
		note = fmt.Sprintf("\n…\n(%d bytes of HTML, the first %d read)", len(s), maxStripped)
		s = strings.ToValidUTF8(s[:maxStripped], "")
	}
	var b strings.Builder
	end := 0
	for _, at := range tag().FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[end:at[0]])
		if end = at[1]; at[2] >= 0 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	b.WriteString(s[end:])
	var lines []string
	for line := range strings.Lines(html.UnescapeString(b.String())) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return cut(strings.Join(lines, "\n"), maxText) + note
}
