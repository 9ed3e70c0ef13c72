// Package messages translates the texts that cells display: statements of lessons, titles,
// headings, notes, verdicts and names of axes. Its functions are SetLanguage, Text and
// Sprintf. Package display calls them when it draws; the operators and cells state their
// texts in English and do not know this package.
//
// A catalogue such as zh-CN.json maps English format strings to translations. Text also
// translates a text that has been formatted: it finds the format string that the text was
// made with. A text without a translation stays in English. In English nothing is changed.
//
// Go's golang.org/x/text/message is not used: its printer writes 25600000 as 25,600,000 in
// English, which committed results do not, and it would have to stand at every place that
// formats a text, in gpu and ops too. The keys are the same: English format strings.
//
// This package imports only kernel/leaf of this module.
package messages

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// Variable names the environment variable that sets the language of a program.
const Variable = "WARPBOOK_LANG"

//go:embed zh-CN.json
var chinese []byte

// languages are those with a catalogue, and English, as tags of BCP 47.
var languages = []string{"en", "zh-CN"}

var current atomic.Pointer[catalogue] // nil: English

var loadChinese = sync.OnceValues(func() (*catalogue, error) { return parse(chinese) })

// SetLanguage sets the language of the texts that follow: "en", "zh" or a tag that begins
// with one of them. "" is English.
func SetLanguage(tag string) error {
	switch primary, _, _ := strings.Cut(strings.ToLower(tag), "-"); primary {
	case "", "en":
		current.Store(nil)
		return nil
	case "zh":
		c, err := loadChinese()
		current.Store(c)
		return err
	}
	return fmt.Errorf("messages: language %q: expected en or zh", tag)
}

// SetFromEnvironment sets the language that the environment names. A language without a
// catalogue leaves the texts in English, and is an error.
func SetFromEnvironment() error {
	if err := SetLanguage(os.Getenv(Variable)); err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	return nil
}

// Language is the tag of the current language.
func Language() string {
	if current.Load() == nil {
		return languages[0]
	}
	return languages[1]
}

// English reports whether texts stay as they are.
func English() bool { return current.Load() == nil }

// Text is the translation of a text, which may be formatted. Of a text of several lines
// that has none as a whole, each line is translated.
func Text(s string) string {
	c := current.Load()
	if c == nil {
		return s
	}
	return c.text(s)
}

// Texts are the translations of texts.
func Texts(list []string) []string {
	if English() || list == nil {
		return list
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Text(s)
	}
	return out
}

// Sprintf formats values as fmt.Sprintf does, by the translation of the format. Without
// values the format is the text.
func Sprintf(format string, values ...any) string {
	english := format
	if len(values) > 0 {
		english = fmt.Sprintf(format, values...)
	}
	c := current.Load()
	if c == nil {
		return english
	}
	if m, ok := c.formats[format]; ok && m.pattern != nil && len(values) > 0 {
		if s, ok := m.format(c, values); ok {
			return s
		}
	}
	return c.text(english)
}

// In is the translation of a text into a language, or the text itself.
func In(language, s string) string {
	if primary, _, _ := strings.Cut(strings.ToLower(language), "-"); primary != "zh" {
		return s
	}
	c, err := loadChinese()
	if err != nil {
		return s
	}
	return c.text(s)
}

func parse(data []byte) (*catalogue, error) {
	var entries map[string]string
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("messages: catalogue: %w", err)
	}
	return newCatalogue(entries), nil
}
