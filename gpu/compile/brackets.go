package compile

import "strings"

var closers = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// brackets is the first bracket that has no partner, in code without comments
// and strings. Of several that are open at the end it is the one whose closing
// bracket seems to be missing: a bracket that stands further left than the line
// of its partner was meant for another.
func (s *source) brackets() (wrong []Diagnostic) {
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

// indent is how many blanks the line of an offset begins with.
func (s *source) indent(at int) int {
	line := s.text[strings.LastIndexByte(s.text[:at], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}

// begins says whether an offset is the first of its line that is no blank.
func (s *source) begins(at int) bool {
	return strings.TrimSpace(s.text[strings.LastIndexByte(s.text[:at], '\n')+1:at]) == ""
}

// openComment is where a comment begins that goes on to the end, -1 if none does.
func (s *source) openComment() int {
	for _, m := range hidden().FindAllStringIndex(s.text, -1) {
		if part := s.text[m[0]:m[1]]; strings.HasPrefix(part, "/*") && (len(part) < 4 || !strings.HasSuffix(part, "*/")) {
			return m[0]
		}
	}
	return -1
}
