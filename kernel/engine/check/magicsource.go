package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strings"
	"sync/atomic"
	"unicode"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/rewrite"
	"warpbook/kernel/engine/split"
)

// A magic is compiled with its cell as a call of the runtime package, by id:
// __rt.Magic(id) in its place; for a magic around Go code, the same call before and
// after the code, or loops that ask __rt.MagicRuns(id) how many times to run the code.

// Call is a magic that is called in a cell.
type Call struct {
	*magic.Call
	ID   int
	At   int                 // in the cell
	Stop func() error        // the action after its code, set when the code has begun
	Next func() (int, error) // how often its code runs next, set when the code has begun
}

// LastCall is the last id of a call. Ids are never reused, so that an abandoned cell
// never uses the id of a later cell.
var LastCall atomic.Int64

// addMagic adds the pieces that replace a magic.
func (s *Source) addMagic(p split.Piece) []failure.Diagnostic {
	parsed, err := s.Magics.Parse(s.Src[p.Start:p.End])
	if err != nil {
		return []failure.Diagnostic{s.MagicDiagnostic(p.Start, err)}
	}
	if parsed.Sign == "%%" && strings.TrimSpace(s.Src[:p.Start]) != "" {
		return []failure.Diagnostic{s.MagicDiagnostic(p.Start, &magic.Error{Msg: "%%" + parsed.Name + " must be the first line of its cell"})}
	}
	c := &Call{Call: parsed, ID: int(LastCall.Add(1)), At: p.Start}
	s.Calls = append(s.Calls, c)
	add := func(closes bool, format string, args ...any) {
		s.Pieces = append(s.Pieces, piece{Piece: p, closes: closes, text: fmt.Sprintf(format, args...)})
	}
	one := fmt.Sprintf("%s.Magic(%d);\n", rewrite.RuntimeName, c.ID)
	switch {
	case c.Help || c.Run != nil:
		add(false, "%s", one)
		return nil
	case c.Declare != nil: // expand has replaced it by Go
		return nil
	case c.Start != nil:
		add(false, "%s", one)
		defer add(true, "%s", one)
	default:
		add(false, "for __n := %[1]s.MagicRuns(%[2]d); __n > 0; __n = %[1]s.MagicRuns(%[2]d) { for range __n {\n", rewrite.RuntimeName, c.ID)
		defer add(false, "}};\n")
	}
	return s.addCode(c, p)
}

// addCode adds the pieces of the Go code of a magic.
func (s *Source) addCode(c *Call, p split.Piece) []failure.Diagnostic {
	code, at := c.Code()
	at += p.Start
	pieces, errs := split.Cell(code)
	line, col := s.place(at)
	diags := s.misfits(errs, at)
	for _, q := range pieces {
		if q.Kind == split.Magic {
			diags = append(diags, s.MagicDiagnostic(at+q.Start, &magic.Error{Msg: "a magic cannot stand in the code of another"}))
		}
		if q.Line == 1 {
			q.Col += col - 1
		}
		x := piece{Piece: q}
		if c.Loop != nil && yields(code[q.Start:q.End]) {
			x.text = "_ = "
		}
		x.Line, x.Start, x.End = line+q.Line-1, at+q.Start, at+q.End
		s.Pieces = append(s.Pieces, x)
	}
	return diags
}

// yields reports whether code is an expression that may not stand as a statement.
func yields(code string) bool {
	x, err := parser.ParseExpr(code)
	if err != nil {
		return false
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		u, ok := x.(*ast.UnaryExpr)
		return !ok || u.Op.String() != "<-"
	}
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		switch f.Name {
		case "append", "cap", "complex", "imag", "len", "make", "max", "min", "new", "real":
			return true
		}
		_, isType := types.Universe.Lookup(f.Name).(*types.TypeName)
		return isType
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.InterfaceType:
		return true
	}
	return false
}

// aloneMagic reports an error if a magic that must be alone in its cell is not.
func (s *Source) aloneMagic(pieces int) []failure.Diagnostic {
	for _, c := range s.Calls {
		if c.Alone && !c.Help && pieces > 1 {
			return []failure.Diagnostic{s.MagicDiagnostic(c.At, &magic.Error{Msg: c.Sign + c.Name + " must stand alone in its cell"})}
		}
	}
	return nil
}

func (s *Source) MagicDiagnostic(at int, err error) failure.Diagnostic {
	if e := (*magic.Error)(nil); errors.As(err, &e) {
		at += e.Offset
	}
	line, col := s.place(at)
	return failure.Diagnostic{Cell: s.Cell, Line: line, Col: col, Msg: err.Error()}
}

// callsMagic reports whether a statement was made by addMagic.
func callsMagic(es *ast.ExprStmt) bool {
	c, ok := es.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == rewrite.RuntimeName && sel.Sel.Name == "Magic"
}

// MagicName finds the name of the magic at the cursor, with its percent signs.
func MagicName(src string, cursor int) (from, to int, ok bool) {
	magics, _ := split.Magics(src)
	for _, p := range magics {
		name := src[p.Start:p.End]
		if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
			name = name[:i]
		}
		if to := p.Start + len(name); p.Start < cursor && cursor <= to {
			return p.Start, to, true
		}
	}
	return 0, 0, false
}

func (l *Language) MagicMatches(typed string) (matches []cellproto.Match) {
	for _, name := range l.Magics.Names(typed) {
		matches = append(matches, cellproto.Match{Text: name, Kind: "magic"})
	}
	return matches
}
