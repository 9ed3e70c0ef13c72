package split

import (
	"bytes"
	"go/scanner"
	"go/token"
	"strings"
)

// Magics finds the magics of a cell and returns the cell with spaces in their place. A
// cell whose first word begins with %% is one magic as a whole. Elsewhere a line is a
// magic if it begins with % where a statement can begin, because no Go statement does:
// not in a string, a comment or brackets, nor after an operator.
func Magics(src string) (magics []Piece, rest string) {
	if !strings.Contains(src, "%") {
		return nil, src
	}
	if first := len(src) - len(strings.TrimLeft(src, " \t\r\n")); strings.HasPrefix(src[first:], "%%") {
		before := src[:first]
		return []Piece{{Kind: Magic, Start: first, End: len(src), Line: strings.Count(before, "\n") + 1, Col: first - strings.LastIndexByte(before, '\n')}},
			strings.Repeat(" ", len(src))
	}
	text, line := []byte(src), 1
	for from := 0; ; { // after a magic a statement begins, as at the start
		at := magicLine(text[from:])
		if at < 0 {
			return magics, string(text)
		}
		line += strings.Count(src[from:from+at], "\n")
		at, from = at+from, len(src)
		if n := strings.IndexByte(src[at:], '\n'); n >= 0 {
			from = at + n
		}
		magics = append(magics, Piece{Kind: Magic, Start: at, End: from, Line: line, Col: at - strings.LastIndexByte(src[:at], '\n')})
		for i := at; i < from; i++ {
			text[i] = ' '
		}
	}
}

// magicLine is the offset of the first magic, -1 if there is none.
func magicLine(src []byte) int {
	file := token.NewFileSet().AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	last, depth := token.SEMICOLON, 0
	for {
		pos, t, _ := s.Scan()
		switch t {
		case token.EOF:
			return -1
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.REM, token.REM_ASSIGN:
			at := file.Offset(pos)
			line := src[bytes.LastIndexByte(src[:at], '\n')+1 : at]
			if last == token.SEMICOLON && depth == 0 && len(bytes.TrimSpace(line)) == 0 {
				return at
			}
		}
		last = t
	}
}
