package ask

import (
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/split"
)

// Texts returns the completions of a partly typed string literal. The call is the
// expression of the function or the type that takes the string, such as ops.Reduce.Code
// or ops.Rung, "" if there is none. The receiver is the value before the last name, nil
// if it is unknown.
type Texts func(call, typed string, receiver any) []string

// openText is a string literal that is open at a cursor.
type openText struct {
	from int      // the byte after the quote
	call []string // the names of the function or the type that takes it, none if there is none
}

// textAt finds the unfinished string literal at the end of a source. The source may be
// half written, so only tokens are read.
func textAt(src string) (open openText, ok bool) {
	fset, closed := token.NewFileSet(), true
	var s scanner.Scanner
	file := fset.AddFile("", -1, len(src))
	s.Init(file, []byte(src), func(_ token.Position, msg string) { closed = !strings.Contains(msg, "string literal not terminated") }, 0)
	var chain []string   // the names that end at the last token
	var calls [][]string // of the open brackets, the innermost last
	last, dot := token.ILLEGAL, false
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return openText{}, false
		case tok == token.STRING && !closed:
			if len(calls) > 0 {
				open.call = calls[len(calls)-1]
			}
			open.from = file.Offset(pos) + 1
			return open, true
		case tok == token.IDENT && dot:
			chain = append(slices.Clone(chain), lit)
		case tok == token.IDENT:
			chain = []string{lit}
		case tok == token.PERIOD && last == token.IDENT:
		case tok == token.LPAREN || tok == token.LBRACE:
			calls = append(calls, chain)
			chain = nil
		case tok == token.LBRACK:
			calls = append(calls, nil)
			chain = nil
		case (tok == token.RPAREN || tok == token.RBRACK || tok == token.RBRACE) && len(calls) > 0:
			calls = calls[:len(calls)-1]
			chain = nil
		default:
			chain = nil
		}
		last, dot, closed = tok, tok == token.PERIOD && last == token.IDENT, true
	}
}

// texts completes the string literal at a position, if it is in one.
func (e *Asker) texts(src string, at int) (c Completion, ok bool) {
	magics, _ := split.Magics(src)
	for _, p := range magics {
		if p.Start < at && at <= p.End {
			return c, false
		}
	}
	open, ok := textAt(src[:at])
	if !ok {
		return c, false
	}
	c.Start, c.End = codePoints(src, open.from), codePoints(src, at)
	if e.Texts == nil {
		return c, true
	}
	prefix := src[open.from:at]
	for _, text := range e.Texts(strings.Join(open.call, "."), prefix, e.receiver(open.call)) {
		if strings.HasPrefix(text, prefix) {
			c.Matches = append(c.Matches, cellproto.Match{Text: text, Kind: "text"})
		}
	}
	return c, true
}

// receiver is the value of the variable whose method a call names: a live one, or one of
// a compiled package. It is nil for other receivers, and for live variables while a cell
// runs, because the cell may be changing them.
func (e *Asker) receiver(call []string) any {
	switch len(call) {
	case 2:
		if v, ok := e.Live[call[0]].(*types.Var); ok && !e.Busy() {
			if held := e.ValueOf(v); held.IsValid() && held.CanInterface() {
				return held.Interface()
			}
		}
	case 3:
		for _, p := range e.Advice.PackagesOf(call[0]) {
			compiled, ok := e.Ctx.Loader.Installed(p.Path())
			if !ok {
				continue
			}
			if v := compiled.Vars[call[1]]; v.IsValid() {
				return v.Elem().Interface()
			}
		}
	}
	return nil
}
