package compile

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var closers = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// conditional matches directives that may exclude some brackets of a source.
var conditional = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(?:if|define)`)

// brackets returns the first bracket without a partner, in code without comments
// and strings; nil if directives may exclude some. If several are open at the end, it returns the one whose closing
// bracket seems to be missing: a closing bracket that is indented less than the
// line of its partner belongs to another bracket.
func (s *source) brackets() (wrong []Diagnostic) {
	if conditional().MatchString(s.text) {
		return nil
	}
	var open []int
	suspect := -1
	for i := range len(s.code) {
		switch c := s.code[i]; c {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			if len(open) == 0 {
				return []Diagnostic{s.diagnostic(i, "unexpected %c", c)}
			}
			last := open[len(open)-1]
			if closers[s.code[last]] != c {
				return []Diagnostic{s.diagnostic(last, "%c is never closed", s.code[last])}
			}
			if suspect < 0 && c == '}' && s.indent(i) < s.indent(last) && s.begins(i) {
				suspect = last
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	if suspect < 0 {
		suspect = open[len(open)-1]
	}
	return []Diagnostic{s.diagnostic(suspect, "%c is never closed", s.code[suspect])}
}

// indent is the number of blanks at the beginning of an offset's line.
func (s *source) indent(at int) int {
	line := s.text[strings.LastIndexByte(s.text[:at], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// begins reports whether only blanks precede an offset in its line.
func (s *source) begins(at int) bool {
	return strings.TrimSpace(s.text[strings.LastIndexByte(s.text[:at], '\n')+1:at]) == ""
}

// openComment is the start of a comment that is not closed, or -1.
func (s *source) openComment() int {
	for _, m := range hidden().FindAllStringIndex(s.text, -1) {
		if part := s.text[m[0]:m[1]]; strings.HasPrefix(part, "/*") && (len(part) < 4 || !strings.HasSuffix(part, "*/")) {
			return m[0]
		}
	}
	return -1
}
