package server

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"warpbook/kernel/engine/split"
)

type isCompleteRequest struct {
	Code string `json:"code"`
}

type isCompleteReply struct {
	Status string `json:"status"` // complete, incomplete, invalid, unknown
	Indent string `json:"indent,omitempty"`
}

func (r *isCompleteReply) conclusion() string { return r.Status }

// isComplete answers a console's question whether the user has finished a cell.
func isComplete(_ *call, q isCompleteRequest) (*isCompleteReply, error) {
	_, asks := question(q.Code)
	switch code := strings.TrimSpace(q.Code); {
	case strings.HasPrefix(code, "%%"):
		return &isCompleteReply{Status: "unknown"}, nil // such a cell may have any number of lines
	case asks:
		return &isCompleteReply{Status: "complete"}, nil
	}
	_, rest := split.Magics(q.Code) // each magic is complete at the end of its line
	depth, open := scan(rest)
	switch {
	case open:
		return &isCompleteReply{Status: "incomplete", Indent: strings.Repeat("\t", depth)}, nil
	case valid(rest):
		return &isCompleteReply{Status: "complete"}, nil
	}
	return &isCompleteReply{Status: "invalid"}, nil
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
	pieces, errs := split.Cell(code)
	if len(errs) > 0 {
		return false
	}
	for _, p := range pieces {
		text := code[p.Start:p.End]
		switch p.Kind {
		case split.Package:
			text += "\n"
		case split.Statement:
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
