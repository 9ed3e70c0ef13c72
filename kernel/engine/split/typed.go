package split

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// The answers of Typed, in the words of Jupyter's is_complete_reply.
const (
	Complete   = "complete"
	Incomplete = "incomplete"
	Invalid    = "invalid"
	Unknown    = "unknown"
)

// Typed reports whether the user has finished typing a cell. depth is the number of
// brackets that are open in an incomplete one.
func Typed(src string) (status string, depth int) {
	_, asks := Question(src)
	switch code := strings.TrimSpace(src); {
	case strings.HasPrefix(code, "%%"):
		return Unknown, 0 // such a cell may have any number of lines
	case asks:
		return Complete, 0
	}
	_, rest := Magics(src) // each magic is complete at the end of its line
	depth, open := scan(rest)
	switch {
	case open:
		return Incomplete, depth
	case valid(rest):
		return Complete, 0
	}
	return Invalid, 0
}

var questionForm = lazyregexp.New(`^([\pL_][\pL\pN_.]*)\?\??$`)

// Question recognises a cell that asks for the documentation of a name, such as
// fmt.Println?, which is not Go code.
func Question(src string) (name string, ok bool) {
	src = strings.TrimSpace(src)
	if !strings.HasSuffix(src, "?") { // most cells return here, without the regular expression
		return "", false
	}
	if m := questionForm().FindStringSubmatch(src); m != nil {
		return m[1], true
	}
	return "", false
}

// scan reports whether more must follow: a bracket, a raw string or a comment is open,
// or the last token cannot end a statement. Code with other errors is not open,
// whatever follows.
func scan(code string) (depth int, open bool) {
	var s scanner.Scanner
	unterminated, wrong := false, false
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), func(_ token.Position, msg string) {
		if msg == "comment not terminated" || msg == "raw string literal not terminated" {
			unterminated = true
		} else {
			wrong = true
		}
	}, 0)
	end := token.SEMICOLON
	for {
		_, t, _ := s.Scan()
		switch t {
		case token.EOF:
			needsMore := end != token.SEMICOLON || depth > 0 || unterminated
			return depth, needsMore && !wrong
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if depth--; depth < 0 {
				return 0, false
			}
		}
		end = t
	}
}

// valid reports whether Go's parser accepts each piece of a cell.
func valid(code string) bool {
	pieces, errs := Cell(code)
	if len(errs) > 0 {
		return false
	}
	for _, p := range pieces {
		text := code[p.Start:p.End]
		switch p.Kind {
		case Package:
			text += "\n"
		case Statement:
			text = "package p; func _() {" + text + "\n}"
		default:
			text = "package p; " + text + "\n"
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
			return false
		}
	}
	return true
}
