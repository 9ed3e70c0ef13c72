package cell

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"warpbook/kernel/cell/magic"
	"warpbook/kernel/cell/split"
	"warpbook/kernel/frame"
)

// A magic is compiled with its cell, as a call of the runtime package that
// names it by an id: __rt.Magic(id) where it stands; around Go code, the same
// call before and after it, or loops that ask __rt.MagicRuns(id) how many times
// to run the code.

// call is a magic that is called in a cell.
type call struct {
	*magic.Call
	id   int
	at   int                 // in the cell
	stop func() error        // what is to be done after its code, once that has begun
	next func() (int, error) // how often its code is to run next, once that has begun
}

// lastCall is the last id of a call. A cell that was given up must never meet
// an id of a later one.
var lastCall atomic.Int64

// addMagic adds the pieces that a magic becomes.
func (s *source) addMagic(p split.Piece) []diagnostic {
	parsed, err := magic.Parse(s.src[p.Start:p.End])
	if err != nil {
		return []diagnostic{s.magicDiagnostic(p.Start, err)}
	}
	if parsed.Sign == "%%" && strings.TrimSpace(s.src[:p.Start]) != "" {
		return []diagnostic{s.magicDiagnostic(p.Start, &magic.Error{Msg: "%%" + parsed.Name + " must be the first line of its cell"})}
	}
	c := &call{Call: parsed, id: int(lastCall.Add(1)), at: p.Start}
	s.calls = append(s.calls, c)
	add := func(closes bool, format string, args ...any) {
		s.pieces = append(s.pieces, piece{Piece: p, closes: closes, text: fmt.Sprintf(format, args...)})
	}
	one := fmt.Sprintf("%s.Magic(%d);\n", runtimeName, c.id)
	switch {
	case c.Help || c.Run != nil:
		add(false, "%s", one)
		return nil
	case c.Declare != nil: // expand has put Go in its place
		return nil
	case c.Start != nil:
		add(false, "%s", one)
		defer add(true, "%s", one)
	default:
		add(false, "for __n := %[1]s.MagicRuns(%[2]d); __n > 0; __n = %[1]s.MagicRuns(%[2]d) { for range __n {\n", runtimeName, c.id)
		defer add(false, "}};\n")
	}
	return s.addCode(c, p)
}

// addCode adds the pieces of the Go code of a magic.
func (s *source) addCode(c *call, p split.Piece) []diagnostic {
	code, at := c.Code()
	at += p.Start
	pieces, errs := split.Cell(code)
	line, col := s.place(at)
	diags := s.misfits(errs, at)
	for _, q := range pieces {
		if q.Kind == split.Magic {
			diags = append(diags, s.magicDiagnostic(at+q.Start, &magic.Error{Msg: "a magic cannot stand in the code of another"}))
		}
		if q.Line == 1 {
			q.Col += col - 1
		}
		x := piece{Piece: q}
		if c.Loop != nil && yields(code[q.Start:q.End]) {
			x.text = "_ = "
		}
		x.Line, x.Start, x.End = line+q.Line-1, at+q.Start, at+q.End
		s.pieces = append(s.pieces, x)
	}
	return diags
}

// yields says whether code is an expression that may not stand as a statement.
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

// aloneMagic complains of a magic that must be all of its cell and is not.
func (s *source) aloneMagic(pieces int) []diagnostic {
	for _, c := range s.calls {
		if c.Alone && !c.Help && pieces > 1 {
			return []diagnostic{s.magicDiagnostic(c.at, &magic.Error{Msg: c.Sign + c.Name + " must stand alone in its cell"})}
		}
	}
	return nil
}

func (s *source) magicDiagnostic(at int, err error) diagnostic {
	if e := (*magic.Error)(nil); errors.As(err, &e) {
		at += e.Offset
	}
	line, col := s.place(at)
	return diagnostic{cell: s.cell, line: line, col: col, msg: err.Error()}
}

// callsMagic says whether a statement is one that addMagic made.
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
	return ok && x.Name == runtimeName && sel.Sel.Name == "Magic"
}

// magicName finds the name of a magic, with its percent signs, that the cursor
// is at.
func magicName(src string, cursor int) (from, to int, ok bool) {
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

func magicMatches(typed string) (matches []frame.Match) {
	for _, name := range magic.Names(typed) {
		matches = append(matches, frame.Match{Text: name, Kind: "magic"})
	}
	return matches
}

// openMagics lets a cell's magics run until it shuts them.
func (e *Engine) openMagics(s *source) (shut func()) {
	for _, c := range s.calls {
		c.Session, c.Out, c.Show = session{e, s}, e.stdout, e.config.Show
		e.calls.Store(c.id, opened{c, s})
	}
	return func() {
		for _, c := range s.calls {
			e.calls.Delete(c.id)
			if c.Always == nil {
				continue
			}
			if err := c.Always(); err != nil {
				fmt.Fprintln(e.stderr, err)
			}
		}
	}
}

// opened is a call that may run, and the cell it stands in.
type opened struct {
	*call
	source *source
}

func (e *Engine) opened(id int) opened {
	o, ok := e.calls.Load(id)
	if !ok { // the cell was given up
		panic(interrupted{})
	}
	return o.(opened)
}

// magic does what a magic does, or begins or ends one that is about code.
func (e *Engine) magic(id int) {
	c := e.opened(id)
	switch {
	case c.stop != nil:
		c.done(e, c.stop())
	case c.Start != nil && !c.Help:
		var err error
		c.call.stop, err = c.Start(c.Call)
		c.done(e, err)
	default:
		c.done(e, c.Do())
	}
}

func (e *Engine) magicRuns(id int) int {
	c := e.opened(id)
	var err error
	if c.next == nil {
		c.call.next, err = c.Loop(c.Call)
	}
	n := 0
	if err == nil {
		n, err = c.next()
	}
	c.done(e, err)
	return n
}

// done ends the cell if a magic has ended with an error.
func (o opened) done(e *Engine, err error) {
	if errors.Is(err, magic.ErrInterrupted) {
		e.stop.killed()
	}
	if err != nil {
		panic(&magicError{o.source.magicDiagnostic(o.at, err)})
	}
}

// magicError is what a magic ends a cell with.
type magicError struct{ diagnostic }

func (m *magicError) Error() string { return m.String() }

func (e *Engine) magicFailure(m *magicError) *frame.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &frame.Error{Name: errorError, Value: m.String(), Traceback: []string{errorError + ": " + m.String() + e.quote(m.diagnostic)}}
}

// session is what the magics of a cell see of an engine. They run while e.mu is
// free.
type session struct {
	e    *Engine
	cell *source
}

func (s session) Packages() []string       { return s.e.packages() }
func (s session) Stopped() <-chan struct{} { return s.e.stop.channel() }

func (s session) Variables() (vars []magic.Variable) {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.live)) {
		if v, ok := e.live[name].(*types.Var); ok {
			vars = append(vars, magic.Variable{Name: name, Type: e.typeString(v.Type()), Value: summary(e.valueOf(v))})
		}
	}
	return vars
}

// valueOf is what a live variable holds.
func (e *Engine) valueOf(v *types.Var) reflect.Value {
	if u := e.graph.units[v.Pkg()]; u != nil {
		if p, ok := u.vars[v.Name()]; ok {
			return p.Elem()
		}
	}
	return reflect.Value{}
}

func (s session) Reset() {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.live)
	clear(e.decls)
	clear(e.versions)
	clear(e.broken)
	e.libraries = nil
	e.nextPrune = 0
}

const (
	maxHistory = 1000 // cells that %history can list
	dropped    = 100  // at once, because those that stay are moved
)

// remember keeps a cell that has a number.
func (e *Engine) remember(n int, src string) {
	if n == 0 {
		return
	}
	if len(e.history) == maxHistory+dropped {
		e.history = slices.Delete(e.history, 0, dropped)
	}
	e.history = append(e.history, magic.Cell{Number: n, Source: strings.Clone(src)})
}

func (s session) Past() magic.Past {
	past := s.e.config.Past
	if past != nil && frame.CellShell(s.cell.cell) > 0 {
		return elsewhere{past}
	}
	return past
}

// elsewhere is the past of a subshell: what the parent shell calls this session is
// that of another shell.
type elsewhere struct{ magic.Past }

func (f elsewhere) Range(session, start int, stop *int) ([]magic.Cell, error) {
	if session == 0 {
		return nil, nil
	}
	return f.Past.Range(session, start, stop)
}

// Cells are those of the shell that asks.
func (s session) Cells() (cells []magic.Cell) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	for _, c := range s.e.history[max(0, len(s.e.history)-maxHistory):] {
		if frame.CellShell(c.Number) == frame.CellShell(s.cell.cell) {
			cells = append(cells, c)
		}
	}
	return cells
}

func (s session) Replace(text string) { s.cell.next = text }
