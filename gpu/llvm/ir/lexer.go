package ir

import (
	"fmt"
	"strings"
)

// Error is a mistake in, or an unknown word of, intermediate code.
type Error struct {
	Line int // of the intermediate code
	Fact string
}

func (e *Error) Error() string {
	return fmt.Sprintf("llvm: line %d of the intermediate code: %s", e.Line, e.Fact)
}

// A lexer gives the words of a text. Panics with *Error; Parse recovers it.
type lexer struct {
	text string
	at   int
	line int
	word string // the current one; "" at the end
	end  int    // of the current word
}

func (l *lexer) fail(format string, args ...any) {
	panic(&Error{l.line, fmt.Sprintf(format, args...)})
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '$' || c == '-'
}

// next reads the next word.
func (l *lexer) next() {
	l.at = l.end
	l.skip()
	start := l.at
	if start >= len(l.text) {
		l.word, l.end = "", start
		return
	}
	i := start
	switch c := l.text[i]; {
	case c == '%' || c == '@' || c == '!' || c == '#' || c == '^':
		i++
		if i < len(l.text) && l.text[i] == '"' {
			i = l.quoted(i)
		} else {
			for i < len(l.text) && isWord(l.text[i]) {
				i++
			}
		}
	case c == '"':
		i = l.quoted(i)
	case c == 'c' && i+1 < len(l.text) && l.text[i+1] == '"':
		i = l.quoted(i + 1)
	case isWord(c) || c == '+':
		for i++; i < len(l.text) && (isWord(l.text[i]) || l.text[i] == '+' && l.text[i-1] == 'e'); i++ {
		}
	default:
		i++
	}
	l.word, l.end = l.text[start:i], i
}

// quoted is the end of the string that begins at i.
func (l *lexer) quoted(i int) int {
	n := strings.IndexByte(l.text[i+1:], '"')
	if n < 0 {
		l.fail("a string without its end")
	}
	return i + n + 2
}

// skip passes spaces and comments.
func (l *lexer) skip() {
	for ; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\n':
			l.line++
		case ' ', '\t', '\r':
		case ';':
			n := strings.IndexByte(l.text[l.at:], '\n')
			if n < 0 {
				l.at = len(l.text)
				return
			}
			l.at += n - 1
		default:
			return
		}
	}
}

// accept reads a word if it is the current one.
func (l *lexer) accept(word string) bool {
	if l.word != word {
		return false
	}
	l.next()
	return true
}

func (l *lexer) expect(word string) {
	if !l.accept(word) {
		l.fail("%q, expected %q", l.word, word)
	}
}

// take returns the current word and reads the next.
func (l *lexer) take() string {
	word := l.word
	if word == "" {
		l.fail("the text ends early")
	}
	l.next()
	return word
}

// isLabel reports whether the current word is the name of a block.
func (l *lexer) isLabel() bool { return l.end < len(l.text) && l.text[l.end] == ':' }

// restOfLine skips to the next line.
func (l *lexer) restOfLine() string {
	n := strings.IndexByte(l.text[l.end:], '\n')
	if n < 0 {
		n = len(l.text) - l.end
	}
	rest := l.word + l.text[l.end:l.end+n]
	l.end += n
	l.next()
	return rest
}

// parens skips a list in parentheses that the current word opens.
func (l *lexer) parens() {
	for depth := 0; ; {
		switch l.take() {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// unquote is a name or string without its sign and quotes, with LLVM's escapes replaced.
func unquote(s string) string {
	if s != "" && (s[0] == '%' || s[0] == '@' || strings.HasPrefix(s, `c"`)) {
		s = s[1:]
	}
	if len(s) < 2 || s[0] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+2 < len(s) {
			if s[i+1] == '\\' {
				b.WriteByte('\\')
				i++
				continue
			}
			var n byte
			if _, err := fmt.Sscanf(s[i+1:i+3], "%02X", &n); err == nil {
				b.WriteByte(n)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
