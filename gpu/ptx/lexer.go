package ptx

import "strings"

// kind is the kind of a token. One-character punctuation is its own kind.
type kind byte

const (
	endToken    kind = iota
	wordToken        // add, %r1, $L__BB0_2, _
	dotToken         // .reg, .shared::cta: the text without its dot
	numberToken      // 12, 0x1fU, 0f3f800000, 1.5e-3; checked when its value is read
	stringToken      // the text between the quotes, escapes as written
	badToken         // not PTX: the text is the fact
	shiftLeftToken
	shiftRightToken
	lessEqualToken
	greaterEqualToken
	equalToken
	notEqualToken
	andToken
	orToken
)

type token struct {
	kind   kind
	pos    Pos
	offset int // of the first byte in the text
	text   string
}

// lexer cuts the text into tokens, which share its memory. A copy of a lexer
// looks ahead.
type lexer struct {
	text      string
	offset    int
	line      int
	lineStart int // offset of the line's first byte
}

func (l *lexer) pos(offset int) Pos { return Pos{l.line, offset - l.lineStart + 1} }

// next returns the next token; at the end it returns endToken for ever.
func (l *lexer) next() token {
	if bad, ok := l.skipBlank(); !ok {
		return bad
	}
	start := l.offset
	t := token{pos: l.pos(start), offset: start}
	if start >= len(l.text) {
		return t
	}
	c := l.text[start]
	switch {
	case c >= '0' && c <= '9':
		t.kind = numberToken
		l.skipNumber()
	case c == '.':
		t.kind = dotToken
		l.skipDotted()
		t.text = l.text[start+1 : l.offset]
		return t
	case c == '"':
		return l.quoted(t)
	case follows(c) || c == '%' && start+1 < len(l.text) && follows(l.text[start+1]):
		t.kind = wordToken
		l.offset++
		l.skipWord()
	default:
		t.kind = l.operator(c)
	}
	t.text = l.text[start:l.offset]
	if t.kind == badToken {
		t.text = "a character that PTX does not use"
	}
	return t
}

// follows reports whether c may stand inside an identifier.
func follows(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// skipBlank skips white space and comments. It returns false and a bad token
// for a comment without an end.
func (l *lexer) skipBlank() (token, bool) {
	for l.offset < len(l.text) {
		switch c := l.text[l.offset]; {
		case c == '\n':
			l.offset++
			l.newLine()
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.offset++
		case strings.HasPrefix(l.text[l.offset:], "//"):
			n := strings.IndexByte(l.text[l.offset:], '\n')
			if n < 0 {
				n = len(l.text) - l.offset
			}
			l.offset += n
		case strings.HasPrefix(l.text[l.offset:], "/*"):
			n := strings.Index(l.text[l.offset+2:], "*/")
			if n < 0 {
				return token{kind: badToken, pos: l.pos(l.offset), offset: l.offset, text: "a comment without its '*/'"}, false
			}
			l.skipLines(l.offset + n + 4)
		default:
			return token{}, true
		}
	}
	return token{}, true
}

func (l *lexer) newLine() {
	l.line++
	l.lineStart = l.offset
}

func (l *lexer) skipLines(end int) {
	for l.offset < end {
		l.offset++
		if l.text[l.offset-1] == '\n' {
			l.newLine()
		}
	}
}

func (l *lexer) skipWord() {
	for l.offset < len(l.text) && follows(l.text[l.offset]) {
		l.offset++
	}
}

// skipDotted skips a dot and a word in which '::' may stand.
func (l *lexer) skipDotted() {
	l.offset++
	l.skipWord()
	for strings.HasPrefix(l.text[l.offset:], "::") {
		l.offset += 2
		l.skipWord()
	}
}

// skipNumber skips all letters that can belong to a number, valid or not.
func (l *lexer) skipNumber() {
	start := l.offset
	prefixed := l.text[start] == '0' && start+1 < len(l.text) && strings.IndexByte("xXfFdDbB", l.text[start+1]) >= 0
	for l.offset < len(l.text) {
		c := l.text[l.offset]
		sign := (c == '+' || c == '-') && l.text[l.offset-1]|0x20 == 'e'
		if !follows(c) && (prefixed || c != '.' && !sign) {
			return
		}
		l.offset++
	}
}

func (l *lexer) quoted(t token) token {
	for i := t.offset + 1; i < len(l.text) && l.text[i] != '\n'; i++ {
		switch l.text[i] {
		case '\\':
			if i+1 < len(l.text) && l.text[i+1] != '\n' {
				i++
			}
		case '"':
			t.kind, t.text = stringToken, l.text[t.offset+1:i]
			l.offset = i + 1
			return t
		}
	}
	t.kind, t.text = badToken, "a string without its closing quote"
	return t
}

var operators = [...]struct {
	text string
	kind kind
}{
	{"<<", shiftLeftToken}, {">>", shiftRightToken}, {"<=", lessEqualToken}, {">=", greaterEqualToken},
	{"==", equalToken}, {"!=", notEqualToken}, {"&&", andToken}, {"||", orToken},
}

func (l *lexer) operator(c byte) kind {
	for _, o := range operators {
		if strings.HasPrefix(l.text[l.offset:], o.text) {
			l.offset += 2
			return o.kind
		}
	}
	if strings.IndexByte("{}()[],;:+-*/%&|^~!?<>=@", c) < 0 {
		return badToken
	}
	l.offset++
	return kind(c)
}
