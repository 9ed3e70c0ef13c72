package ask

import (
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/split"
)

// inMagic is a name at the cursor in a magic: an option of its line, or a name in the
// lines of another language.
type inMagic struct {
	magic    *magic.Magic
	src      string
	from, to int // of the name
	body     int // offset of the lines below, 0 if the cursor stands in the magic's own line
	start    int // offset of the text after the magic's name
	end      int // of the magic
}

// magicAt is the magic around the cursor, nil if there is none, or if Go code stands
// there.
func (e *Asker) magicAt(src string, at int) *inMagic {
	magics, _ := split.Magics(src)
	for _, p := range magics {
		if at <= p.Start || at > p.End {
			continue
		}
		line, _, _ := strings.Cut(src[p.Start:p.End], "\n")
		name := strings.TrimLeft(strings.Fields(line + " ")[0], "%")
		m := &inMagic{magic: e.Magics.Find(name), src: src, from: identStart(src, at), to: identEnd(src, at), end: p.End,
			start: p.Start + strings.Index(line, name) + len(name)}
		switch {
		case m.magic == nil:
		case at <= p.Start+len(line):
			for m.from > p.Start && (src[m.from-1] == '-' || isIdent(src[m.from-1])) {
				m.from--
			}
			if m.magic.Arguments != nil && m.from >= m.start || m.magic.Declare != nil || m.from < at && src[m.from] == '-' && len(m.matches()) > 0 { // otherwise it may be Go code
				return m
			}
		case m.magic.Words != nil:
			m.body = p.Start + len(line) + 1
			return m
		}
	}
	return nil
}

// matches are the completions of the name.
func (m *inMagic) matches() (matches []cellproto.Match) {
	typed := m.src[m.from:m.to]
	if m.body == 0 {
		for _, f := range m.magic.Flags {
			if option := "--" + f.Name; strings.HasPrefix(option, typed) || strings.HasPrefix(option[1:], typed) {
				matches = append(matches, cellproto.Match{Text: option, Kind: "option", Type: f.Value})
			}
		}
		if m.magic.Arguments == nil {
			return matches
		}
	}
	for _, w := range m.words() {
		if strings.HasPrefix(strings.ToLower(w.Name), strings.ToLower(typed)) {
			matches = append(matches, cellproto.Match{Text: w.Name, Kind: w.Kind, Type: w.Declaration})
		}
	}
	return matches
}

// words are the names that can stand at the cursor. The one that is being typed is none.
func (m *inMagic) words() []magic.Word {
	if m.body == 0 {
		return m.magic.Arguments(m.src[m.start:m.from])
	}
	start := m.from
	for m.src[start-1] == '.' {
		start = identStart(m.src, start-1)
	}
	return m.magic.Words(m.src[m.body:m.from]+m.src[m.to:m.end], m.src[start:m.from])
}

// describe is the help on the name at the cursor, or else on the function in whose
// arguments it stands.
func (m *inMagic) describe() string {
	name := m.src[m.from:m.to]
	if m.body == 0 {
		for _, f := range m.magic.Flags {
			if name != "" && f.Name == strings.TrimLeft(name, "-") {
				return strings.TrimSpace("--"+f.Name+" "+f.Value) + "\n\n" + f.Help
			}
		}
		if m.magic.Arguments != nil {
			for _, w := range m.words() {
				if w.Name == name && w.Short != "" {
					return strings.TrimSpace(name+" "+w.Declaration) + "\n\n" + w.Short
				}
			}
		}
		return m.magic.Usage()
	}
	if text := m.describeWord(); text != "" {
		return text
	}
	open := openCall(m.src[m.body:m.from])
	if open < 0 {
		return ""
	}
	called := *m
	called.to = m.body + open
	called.from = max(m.body, identStart(m.src, called.to))
	return called.describeWord()
}

func (m *inMagic) describeWord() string {
	name := m.src[m.from:m.to]
	if name == "" {
		return ""
	}
	for _, w := range m.magic.Words(m.src[m.body:m.end], "") {
		if w.Name == name && w.Declaration != "" {
			return w.Declaration + "\n\n" + w.Short
		}
	}
	return ""
}

// openCall is the offset of the last bracket ( that is still open, -1 if there is none.
func openCall(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth < 0 {
				return i
			}
		case ';', '{', '}':
			return -1
		}
	}
	return -1
}
