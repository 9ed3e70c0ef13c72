package messages

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"warpbook/kernel/leaf/lazyregexp"
)

// catalogue holds the translations of one language. It does not change once it is made.
type catalogue struct {
	formats  map[string]*message // by the English format string
	patterns []*message          // with verbs, those with the longest fixed text first

	mu   sync.Mutex
	seen map[string]string // finished texts that were translated
}

// mostSeen bounds the texts that are remembered.
const mostSeen = 1 << 14

// message is one translation.
type message struct {
	english, translated string
	verbs               []verb         // of the English format, in order
	fixed               string         // the longest piece without a verb
	pattern             *regexp.Regexp // matches a formatted text; nil without verbs
}

// verb is one verb of a format, and the number of its value, from 1.
type verb struct {
	text  string
	value int
}

// verbs are %d, %.1f, %[2]s and so on. A blank is no flag here, because a text that is no
// format may have "4 % of". %% is none.
var verbs = lazyregexp.New(`%%|%([-+#0]*)(?:\[(\d+)\])?(\d*(?:\.\d+)?)([vTtbcdoOqxXUeEfFgGs])`)

const (
	wildNumber = ` *([-+]?[\d.,]*\d[\d.,]*(?:e[-+]?\d+)?|[-+]?Inf|NaN) *`
	wildText   = `([^\n]*?)`
)

func newCatalogue(entries map[string]string) *catalogue {
	c := &catalogue{formats: map[string]*message{}, seen: map[string]string{}}
	for english, translated := range entries {
		if translated == "" {
			continue
		}
		english = strings.TrimSpace(english)
		m := newMessage(english, strings.TrimSpace(translated))
		c.formats[english] = m
		if m.pattern != nil && recognisable(m) {
			c.patterns = append(c.patterns, m)
		}
	}
	slices.SortFunc(c.patterns, func(a, b *message) int {
		return cmp.Or(cmp.Compare(letters(b.english), letters(a.english)), cmp.Compare(a.english, b.english))
	})
	return c
}

// recognisable reports whether a formatted text shows that it was made with the format:
// "%s of %s" would match most texts. Verbs of numbers match only numbers, so that fewer
// letters are enough.
func recognisable(m *message) bool {
	for _, v := range m.verbs {
		if !v.isNumber() {
			return letters(m.english) >= 5
		}
	}
	return letters(m.english) >= 3
}

// letters are those that a format has outside its verbs.
func letters(format string) int {
	return len(strings.ReplaceAll(verbs().ReplaceAllString(format, ""), " ", ""))
}

func (v verb) isNumber() bool { return strings.ContainsAny(v.text[len(v.text)-1:], "deEfFgG") }

func newMessage(english, translated string) *message {
	m := &message{english: english, translated: translated, verbs: verbsOf(english)}
	if len(m.verbs) == 0 {
		return m
	}
	var b strings.Builder
	b.WriteString(`^(?s:`)
	end, next := 0, 0
	fixed := func(s string) {
		s = strings.ReplaceAll(s, "%%", "%")
		if s = strings.ReplaceAll(s, "\x00", "%"); len(s) > len(m.fixed) {
			m.fixed = s
		}
		b.WriteString(regexp.QuoteMeta(s))
	}
	// %% is fixed text: it stands in as a zero byte while the pieces are cut.
	format := strings.ReplaceAll(english, "%%", "\x00")
	for _, at := range verbs().FindAllStringIndex(format, -1) {
		fixed(format[end:at[0]])
		if m.verbs[next].isNumber() {
			b.WriteString(wildNumber)
		} else {
			b.WriteString(wildText)
		}
		end, next = at[1], next+1
	}
	fixed(format[end:])
	b.WriteString(`)$`)
	m.pattern = regexp.MustCompile(b.String())
	return m
}

// verbsOf are the verbs of a format with the numbers of their values.
func verbsOf(format string) (list []verb) {
	next := 1
	for _, m := range verbs().FindAllStringSubmatch(format, -1) {
		if m[0] == "%%" {
			continue
		}
		if m[2] != "" {
			next, _ = strconv.Atoi(m[2])
		}
		list = append(list, verb{"%" + m[1] + m[3] + m[4], next})
		next++
	}
	return list
}

// text translates a finished text.
func (c *catalogue) text(s string) string {
	c.mu.Lock()
	out, ok := c.seen[s]
	c.mu.Unlock()
	if ok {
		return out
	}
	out = c.search(s, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= mostSeen {
		clear(c.seen)
	}
	c.seen[s] = out
	return out
}

// deepest bounds texts within texts.
const deepest = 4

func (c *catalogue) search(s string, depth int) string {
	body := strings.TrimSpace(s)
	if body == "" || depth > deepest {
		return s
	}
	if m, ok := c.formats[body]; ok && m.pattern == nil {
		return strings.Replace(s, body, m.translated, 1)
	}
	for _, m := range c.patterns {
		if !strings.Contains(body, m.fixed) {
			continue
		}
		found := m.pattern.FindStringSubmatch(body)
		if found == nil {
			continue
		}
		values := map[int]string{}
		for i, v := range m.verbs {
			values[v.value] = c.search(found[i+1], depth+1)
		}
		return strings.Replace(s, body, m.fill(values), 1)
	}
	if name, rest, ok := strings.Cut(s, ": "); ok && nameOfCode().MatchString(name) {
		if translated := c.search(rest, depth+1); translated != rest {
			return name + "：" + translated
		}
	}
	for _, at := range []struct{ separator, translated string }{{"\n", "\n"}, {"; ", "；"}} {
		if parts := strings.Split(s, at.separator); len(parts) > 1 {
			return c.parts(parts, s, at.translated, depth+1)
		}
	}
	return s
}

// nameOfCode is a name that begins a text about it: "reduce_v0: reads past the end".
var nameOfCode = lazyregexp.New("^`?[a-z]+[a-z0-9]*_[a-z0-9_]+`?$")

// parts translates the parts of a text, and returns the text itself if no part has a
// translation.
func (c *catalogue) parts(parts []string, s, separator string, depth int) string {
	changed := false
	for i, part := range parts {
		parts[i] = c.search(part, depth)
		changed = changed || parts[i] != part
	}
	if !changed {
		return s
	}
	return strings.Join(parts, separator)
}

// format formats values by the verbs of the English format, so that a translation may
// change their order. Texts among them are translated.
func (m *message) format(c *catalogue, values []any) (s string, ok bool) {
	texts := map[int]string{}
	for _, v := range m.verbs {
		if v.value < 1 || v.value > len(values) {
			return "", false
		}
		texts[v.value] = fmt.Sprintf(v.text, values[v.value-1])
		switch v.text[len(v.text)-1] {
		case 's', 'v':
			texts[v.value] = c.text(texts[v.value])
		}
	}
	return m.fill(texts), true
}

// fill puts formatted values into the translation.
func (m *message) fill(values map[int]string) string {
	next := 1
	return verbs().ReplaceAllStringFunc(m.translated, func(v string) string {
		if v == "%%" {
			return "%"
		}
		if at := verbs().FindStringSubmatch(v)[2]; at != "" {
			next, _ = strconv.Atoi(at)
		}
		next++
		return values[next-1]
	})
}
