package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/uuid"
)

// largeBytes is the length from which a text of a bundle is encoded by appendQuoted:
// encoding/json allocates 37 MB for a text of 5 MB while its buffer grows.
const largeBytes = 64 << 10

// place stands for a large text in encoded content, with its number. No other text has it.
var place = uuid.NewString()

// marshal encodes a message's content. It does not escape HTML, which would multiply
// the size of a large text.
func marshal(content any) json.RawMessage {
	var texts []string
	switch c := content.(type) {
	case display:
		content, texts = c.withoutLarge()
	case executeResult:
		c.display, texts = c.withoutLarge()
		content = c
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		panic("server: encode content: " + err.Error()) // an error of this package: every content has JSON types
	}
	return withLarge(bytes.TrimSuffix(b.Bytes(), []byte("\n")), texts)
}

// withoutLarge returns the display with places for its large texts, and the texts.
func (d display) withoutLarge() (small display, texts []string) {
	for key, value := range d.Data {
		text, ok := value.(string)
		if !ok || len(text) < largeBytes {
			continue
		}
		if texts == nil {
			d.Data = maps.Clone(d.Data)
		}
		d.Data[key] = fmt.Sprint(place, len(texts))
		texts = append(texts, text)
	}
	return d, texts
}

// withLarge puts texts into the encoded content at their places.
func withLarge(content []byte, texts []string) []byte {
	if len(texts) > 0 {
		content = inASCII(content)
	}
	for i, text := range texts {
		mark := fmt.Appendf(nil, "%q", fmt.Sprint(place, i))
		before, after, _ := bytes.Cut(content, mark)
		whole := make([]byte, 0, len(content)+len(text)+len(text)/8)
		whole = appendQuoted(append(whole, before...), text)
		content = append(whole, after...)
	}
	return content
}

// inASCII escapes other letters in JSON: one of them beside a large text would make clients
// take two bytes for each letter of the text, and three times as long.
func inASCII(content []byte) (b []byte) {
	for _, r := range string(content) {
		switch {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, "\\u%04x\\u%04x", high, low)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
	}
	return b
}

// appendQuoted appends a text as JSON.
func appendQuoted(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	b = append(b, '"')
	from := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = fmt.Appendf(b, "\\u%04x", c)
		}
	}
	return append(append(b, text[from:]...), '"')
}
