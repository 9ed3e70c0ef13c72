// Package split cuts the source of a notebook cell into its top-level pieces:
// imports, declarations and statements, in the order in which they stand.
//
// It reads tokens and the extent of statements, not types. Places where a cell cannot be
// cut are reported with line and column. Wrong code inside a piece is left to the
// parser, which sees every piece later. Cell is called by the engine and its packages
// ask and check, and by kernel/server for half-typed cells. The package must not import
// the engine.
package split

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Kind is the kind of a piece.
type Kind int

const (
	Statement Kind = iota
	Package        // a package clause, which a cell does not need
	Import
	Const
	Type
	Var
	Func  // a function or method declaration
	Magic // a line that begins with %, or a cell that begins with %%
)

// Piece is one top-level piece of a cell.
type Piece struct {
	Kind       Kind
	Start, End int  // byte offsets of its text, without the semicolon
	Line, Col  int  // of Start, from 1; columns count bytes
	Semicolon  bool // a semicolon was written after it
}

// Error is a place at which a cell cannot be cut.
type Error struct {
	Line, Col int
	Msg       string
}

func (e Error) Error() string { return e.Msg }

type tok struct {
	offset int
	token  token.Token
	lit    string
}

// maxTokens bounds a cell of maximal size: its compilation takes some seconds and a
// gigabyte, and an interrupt cannot end all of it. A hundred thousand lines fit.
const maxTokens = 1_000_000

type cutter struct {
	src    string
	file   *token.File
	pieces []Piece
	errs   []Error
}

// Cell cuts src at the semicolons, written or implied, that stand outside of
// all brackets and statement headers.
func Cell(src string) ([]Piece, []Error) {
	magics, src := Magics(src)
	fset := token.NewFileSet()
	c := &cutter{src: src, file: fset.AddFile("", -1, len(src))}
	toks := c.scan()
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	start, depth := 0, 0
	for i, t := range toks {
		switch t.token {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.SEMICOLON:
			if depth == 0 && (c.complete(toks[start:i], t) || magicFollows(magics, t, toks[i+1:])) {
				c.add(toks[start:i], t.lit == ";")
				start = i + 1
			}
		}
	}
	c.add(toks[start:], false)
	return inOrder(append(c.pieces, magics...)), nil
}

func inOrder(pieces []Piece) []Piece {
	slices.SortFunc(pieces, func(a, b Piece) int { return cmp.Compare(a.Start, b.Start) })
	return pieces
}

// scan returns all tokens, after a check that the brackets match.
func (c *cutter) scan() []tok {
	var s scanner.Scanner
	s.Init(c.file, []byte(c.src), func(p token.Position, msg string) {
		c.errs = append(c.errs, Error{p.Line, p.Column, msg})
	}, 0)
	var toks []tok
	var open []tok
	for {
		pos, t, lit := s.Scan()
		if t == token.EOF {
			break
		}
		k := tok{c.file.Offset(pos), t, lit}
		if toks = append(toks, k); len(toks) > maxTokens {
			c.fail(k, fmt.Sprintf("the cell has more than %d tokens: put data in a file and read that, or split the cell", maxTokens))
			return nil
		}
		switch t {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, k)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) == 0 || closing[open[len(open)-1].token] != t {
				c.fail(k, "unexpected "+t.String())
				return nil
			}
			open = open[:len(open)-1]
		}
	}
	if n := len(open); n > 0 {
		c.fail(open[n-1], open[n-1].token.String()+" is never closed")
	}
	return toks
}

var closing = map[token.Token]token.Token{
	token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE,
}

func (c *cutter) fail(t tok, msg string) {
	line, col := c.place(t.offset)
	c.errs = append(c.errs, Error{line, col, msg})
}

// place ignores line directives: it is the place of a piece in the cell.
func (c *cutter) place(offset int) (line, col int) {
	p := c.file.PositionFor(c.file.Pos(offset), false)
	return p.Line, p.Column
}

// complete reports whether the piece may end here. Semicolons also separate the
// parts of a for, if or switch header, where only the parser can tell.
func (c *cutter) complete(toks []tok, end tok) bool {
	for len(toks) > 2 && toks[0].token == token.IDENT && toks[1].token == token.COLON {
		toks = toks[2:]
	}
	if len(toks) == 0 {
		return true
	}
	switch toks[0].token {
	case token.FOR, token.IF, token.SWITCH:
	default:
		return true
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {"+c.src[toks[0].offset:c.end(toks[len(toks)-1])]+"\n}", parser.SkipObjectResolution)
	if err == nil {
		return len(f.Decls[0].(*ast.FuncDecl).Body.List) > 0
	}
	// Wrong code ends at the line that closes its block, so that one mistake
	// does not swallow the rest of the cell.
	return end.lit == "\n" && toks[len(toks)-1].token == token.RBRACE
}

// end is the offset behind t. The scanner drops carriage returns from raw
// strings, and a semicolon implied inside a comment stands in the comment.
func (c *cutter) end(t tok) int {
	switch {
	case t.lit == "":
		return t.offset + len(t.token.String())
	case t.lit[0] == '`':
		return t.offset + 2 + strings.IndexByte(c.src[t.offset+1:], '`')
	case t.lit == "\n": // an implied semicolon
		return t.offset
	}
	return t.offset + len(t.lit)
}

// magicFollows reports whether a magic stands between end and the next token: no piece
// continues after a magic.
func magicFollows(magics []Piece, end tok, rest []tok) bool {
	return slices.ContainsFunc(magics, func(m Piece) bool {
		return m.Start > end.offset && (len(rest) == 0 || m.Start < rest[0].offset)
	})
}

func (c *cutter) add(toks []tok, semicolon bool) {
	if len(toks) == 0 {
		return
	}
	p := Piece{Kind: kind(toks), Start: toks[0].offset, End: c.end(toks[len(toks)-1]), Semicolon: semicolon}
	p.Line, p.Col = c.place(p.Start)
	c.pieces = append(c.pieces, p)
}

var kinds = map[token.Token]Kind{
	token.PACKAGE: Package, token.IMPORT: Import, token.CONST: Const, token.TYPE: Type, token.VAR: Var,
}

func kind(toks []tok) Kind {
	if toks[0].token != token.FUNC {
		return kinds[toks[0].token]
	}
	if len(toks) > 1 && toks[1].token == token.IDENT || declaresMethod(toks) {
		return Func
	}
	return Statement
}

// declaresMethod distinguishes func (r T) Name( from a function literal.
func declaresMethod(toks []tok) bool {
	depth := 0
	for i := 1; i < len(toks); i++ {
		switch toks[i].token {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if depth == 0 {
			return i+2 < len(toks) && toks[i].token == token.RPAREN &&
				toks[i+1].token == token.IDENT && toks[i+2].token == token.LPAREN
		}
	}
	return false
}
