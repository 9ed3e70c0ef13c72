package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/gpu/lazyregexp"
	"warpbook/kernel/frame"
)

// The names of the errors that a cell ends with.
const (
	compileError = "compile error"
	panicError   = "panic"
	errorError   = "error" // the last expression returned one
	interrupt    = "interrupted"
	exitError    = "exit"
	internal     = "internal error"
)

// diagnostic is one complaint of the parser or the type checker.
type diagnostic struct {
	cell, line, col int // from 1; columns count bytes
	pos             token.Pos
	msg             string
}

// maxDiagnostics is how many errors a traceback shows.
const maxDiagnostics = 20

// compileFailure reports what is wrong with a cell, every error with its
// source line and a caret.
func (e *Engine) compileFailure(diags []diagnostic) *frame.Error {
	slices.SortStableFunc(diags, func(a, b diagnostic) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
	})
	diags = slices.CompactFunc(diags, func(a, b diagnostic) bool {
		return a.cell == b.cell && a.line == b.line && (a.col == b.col || a.msg == b.msg)
	})
	for i := range diags {
		diags[i] = e.clamp(diags[i])
	}
	f := &frame.Error{Name: compileError, Value: diags[0].String()}
	if n := len(diags) - 1; n > 0 {
		f.Value += fmt.Sprintf(" (and %d more)", n)
	}
	for i, d := range diags {
		if i == maxDiagnostics {
			f.Traceback = append(f.Traceback, fmt.Sprintf("... and %d more errors", len(diags)-i))
			break
		}
		f.Traceback = append(f.Traceback, d.String()+e.quote(d))
	}
	return f
}

func (d diagnostic) String() string {
	if d.line == 0 {
		return d.msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", frame.CellName(d.cell), d.line, d.col, d.msg)
}

// clamp moves a place behind the end of a cell, where the parser missed
// something, to the end.
func (e *Engine) clamp(d diagnostic) diagnostic {
	lines := e.lines(d.cell)
	if n := len(lines); n > 0 && d.line > n {
		d.line, d.col = n, len(lines[n-1])+1
	}
	return d
}

// quote is the source line of a place with a caret below it.
func (e *Engine) quote(d diagnostic) string {
	line, ok := e.line(d.cell, d.line)
	if !ok || d.col < 1 {
		return ""
	}
	col := min(d.col-1, len(line))
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:col])
	return "\n    " + line + "\n    " + pad + "^"
}

// lines is the source of a cell that is still known.
func (e *Engine) lines(cell int) []string { return e.sources[cell] }

func (e *Engine) line(cell, n int) (string, bool) {
	lines := e.lines(cell)
	if n < 1 || n > len(lines) {
		return "", false
	}
	return lines[n-1], true
}

// cellNames are the parts of a message that the engine brought in: the package
// of earlier cells, its second names of variables, and the call that shows the
// last expression.
var cellNames = lazyregexp.New(`\bmain\.|\b` + oldPrefix + `|\b` + typePrefix + `\d+_| in argument to ` + runtimeName + `\.\w+`)

// cellPlace is a place in a message, as directive made it.
var cellPlace = lazyregexp.New(`\bcell\d+:\d+:\d+`)

// diagnose turns what the type checker said into diagnostics.
func (e *Engine) diagnose(errs []types.Error) (diags []diagnostic) {
	for _, te := range errs {
		p := e.ctx.FileSet.Position(te.Pos)
		d := diagnostic{cell: cellOf(p.Filename), line: p.Line, col: p.Column, pos: te.Pos}
		msg := cellPlace().ReplaceAllStringFunc(cellNames().ReplaceAllString(e.named(te.Msg), ""), func(place string) string {
			file, rest, _ := strings.Cut(place, ":")
			return frame.CellName(cellOf(file)) + ":" + rest
		})
		if other, ok := strings.CutPrefix(msg, "\t"); ok && len(diags) > 0 { // the other half of a pair
			diags[len(diags)-1].msg += fmt.Sprintf("; %s at %s:%d:%d", other, frame.CellName(d.cell), d.line, d.col)
			continue
		}
		d.msg = msg + e.remedy(msg, d)
		diags = append(diags, d)
	}
	return diags
}

// remedy is what to do about an error of the type checker, "" if its words say
// enough.
func (e *Engine) remedy(msg string, d diagnostic) string {
	line, _ := e.line(d.cell, d.line)
	answer := ""
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		if e.broken[name] != "" {
			return " (" + e.broken[name] + ")"
		}
		if token.IsIdentifier(name) {
			answer = e.unknown(name, line, e.lines(d.cell))
		}
	}
	if m := noMethod().FindStringSubmatch(msg); m != nil && e.broken[m[1]+"."+m[2]] != "" {
		return " (" + e.broken[m[1]+"."+m[2]] + ")"
	}
	near := e.member(msg)
	switch {
	case answer != "":
	case near != "":
		answer = "nearest: " + near
	case oneOfTwo().MatchString(msg):
		answer = "the second is an error as a rule: x, err := " + oneOfTwo().FindStringSubmatch(msg)[1] + "(...)"
	case hidden().MatchString(msg) && types.Universe.Lookup(hidden().FindStringSubmatch(msg)[1]) != nil:
		answer = "a variable of yours hides Go's own; %reset forgets all variables"
	case tooLarge().MatchString(msg):
		answer = "convert it, as in float64(" + tooLarge().FindStringSubmatch(msg)[1] + ")"
	case noAppend().MatchString(msg):
		answer = "Go writes x = append(x, value)"
	case noLength().MatchString(msg):
		answer = "Go writes len(x)"
	case noArithmetic().MatchString(msg):
		answer = "Go has no arithmetic on slices: write a loop over the elements"
	case otherNumber().MatchString(msg):
		answer = "convert one of them, as in float64(x)"
	case truncated().MatchString(msg):
		answer = "convert the other one, as in float64(x)"
	case textAndNumber().MatchString(msg):
		answer = "Go adds no number to a string: write fmt.Sprint(a, b)"
	case noDim().MatchString(msg):
		answer = noDim().ReplaceAllString(noDim().FindString(msg), "write gpu.Dim{X: $1}")
	case wrongNumber().MatchString(msg):
		answer = wrongNumber().ReplaceAllString(wrongNumber().FindString(msg), "convert it, as in $2($1)")
	case strings.HasPrefix(msg, "label ") || strings.HasPrefix(msg, "invalid operation: cannot indirect"):
		answer = foreign(line)
	}
	if answer != "" {
		answer = ": " + answer
	}
	return answer
}

var (
	tooLarge      = lazyregexp.New(`^cannot use (.+) \(untyped int constant.* as int value.*\(overflows\)`)
	noMethod      = lazyregexp.New(`\(type \*?([\pL_][\pL\pN_]*).* has no field or method ([\pL_][\pL\pN_]*)`)
	oneOfTwo      = lazyregexp.New(`^assignment mismatch: 1 variable but (\S+) returns 2 values$`)
	hidden        = lazyregexp.New(`^invalid operation: cannot call (\w+) \(variable of`)
	noAppend      = lazyregexp.New(`^\S+\.(?:append|push_back|push|add) undefined \(type \[\]`)
	noLength      = lazyregexp.New(`^\S+\.(?:len|length|Length|size|Len) undefined \(type (?:\[|map\[|string|chan )`)
	noArithmetic  = lazyregexp.New(`^invalid operation: (?:operator [-+*/] not defined on .* \(variable of type \[|.* \(mismatched types \[)`)
	otherNumber   = lazyregexp.New(`\(mismatched types (?:u?int(?:8|16|32|64)?|float32|float64) and (?:u?int(?:8|16|32|64)?|float32|float64)\)$`)
	truncated     = lazyregexp.New(`^\S+ \(untyped float constant\) truncated to u?int`)
	textAndNumber = lazyregexp.New(` \+ .*\(mismatched types (?:untyped )?(?:string and (?:untyped )?(?:u?int|float)|(?:u?int|float)\d* and (?:untyped )?string|untyped (?:int|float) and string)`)
	noDim         = lazyregexp.New(`^cannot use (\w+) \((?:untyped int constant|variable of type u?int).*\) as gpu\.Dim value in `)
	wrongNumber   = lazyregexp.New(`^cannot use (\w+) \(variable of type (?:u?int(?:8|16|32|64)?|float32|float64)\) as ((?:u?int(?:8|16|32|64)?|float32|float64)) value in `)
)

// interrupted is what stops interpreted code at an interrupt.
type interrupted struct {
	by error // what a compiled call made of it, if that was where
}

func (interrupted) Error() string { return "interrupted" }

// stopped reports an interrupt before a cell ran.
func stopped() *frame.Error {
	text := interruptText(interrupted{})
	return &frame.Error{Name: interrupt, Value: text, Traceback: []string{interrupt + ": " + text}}
}

// stoppedWith is the error of a run that was interrupted, whatever it made of
// that.
func stoppedWith(err error) error {
	value, frames := unwrap(err)
	if e, ok := value.(error); value == nil || ok && errors.As(e, new(interrupted)) {
		return cmp.Or(err, error(interrupted{}))
	}
	return traced{interrupted{errors.New(panicText(value))}, frames}
}

// exit is what os.Exit panics with.
type exit int

func (x exit) Error() string {
	return fmt.Sprintf("the cell called os.Exit(%d); the session goes on", int(x))
}

// goexit is what runtime.Goexit panics with.
type goexit struct{}

// errOverflow is what a runaway recursion panics with.
var errOverflow = errors.New("stack overflow: the cell recursed too deeply")

// errLateType stands for the fault that a call of a method ends in which the
// interpreter of the caller does not know.
var errLateType = errors.New("a function value of an earlier cell called a method of a type that was defined after it: define the function again")

var (
	errGoexit    = errors.New("the cell ended its goroutine with runtime.Goexit")
	errAbandoned = fmt.Errorf("%w: the cell is blocked in a compiled call, was given up and goes on when the call returns", interrupted{})
)

// errNilStore is what Go calls a store through a nil pointer.
var errNilStore = runtimeError("runtime error: invalid memory address or nil pointer dereference")

// storesThroughNil reports whether a panic is the engine's for *p = 1 with a nil
// p, and not one of code that uses reflection.
func (e *Engine) storesThroughNil(value any, frames []place) bool {
	zero, ok := value.(*reflect.ValueError)
	if !ok || zero.Kind != reflect.Invalid || len(frames) == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	line, _ := e.line(frames[0].cell, frames[0].line)
	return strings.Contains(line, "*") && !strings.Contains(line, "Set")
}

// runFailure reports how a running cell ended.
func (e *Engine) runFailure(err error) *frame.Error {
	value, frames := unwrap(err)
	if m, ok := value.(*magicError); ok {
		return e.magicFailure(m)
	}
	if _, ok := value.(interface{ Addr() uintptr }); ok {
		value = errLateType
	}
	if _, ok := value.(goexit); ok {
		value = errGoexit
	}
	if e.storesThroughNil(value, frames) {
		value = errNilStore
	}
	f, stop := &frame.Error{Name: panicError, Value: panicText(value)}, interrupted{}
	if err, ok := value.(error); ok {
		switch {
		case errors.As(err, &stop):
			f.Name, f.Value = interrupt, interruptText(err)
		case errors.As(err, new(exit)):
			f.Name = exitError
		}
	}
	f.Traceback = []string{f.Name + ": " + f.Value}
	f.Value, _, _ = strings.Cut(f.Value, "\n")
	if stop.by != nil {
		f.Traceback = append(f.Traceback, "the call that was stopped: "+stop.by.Error())
	}
	e.mu.Lock() // not before: the methods of a cell's error may need it
	defer e.mu.Unlock()
	for _, fr := range frames {
		f.Traceback = append(f.Traceback, e.describe(fr))
	}
	return f
}

// interruptText tells of an interrupt what its name does not.
func interruptText(err error) string {
	if errors.Is(err, errAbandoned) {
		return strings.TrimPrefix(err.Error(), interrupted{}.Error()+": ")
	}
	return "the cell was stopped, its variables are kept"
}

// runtimeError is a run-time panic in Go's words, as recover returns it.
type runtimeError string

func (runtimeError) RuntimeError()   {}
func (e runtimeError) Error() string { return string(e) }

func panicText(v any) string {
	switch v := v.(type) {
	case ixgo.RuntimeError: // which has the words where Go has none, and twice
		text := strings.TrimPrefix(string(v), "runtime error: ")
		if strings.HasPrefix(text, "interface conversion: ") {
			_, is, _ := strings.Cut(text, " is ")
			if old, now, ok := strings.Cut(is, ", not "); ok && old == now {
				text += " (types of different cells)"
			}
			return text
		}
		return "runtime error: " + text
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}

func (e *Engine) describe(p place) string {
	s := p.String()
	if line, ok := e.line(p.cell, p.line); ok {
		s += "\n    " + strings.TrimSpace(line)
	}
	return s
}

// outcome is the result of a cell that ran to its end.
func (c *checked) outcome(values []any) Result {
	n := len(values)
	if !c.errLast {
		return Result{Values: values}
	}
	if err, ok := values[n-1].(error); ok && err != nil {
		value, _, _ := strings.Cut(err.Error(), "\n")
		return Result{Err: &frame.Error{Name: errorError, Value: value, Traceback: []string{errorError + ": " + err.Error()}}}
	}
	return Result{Values: values[:n-1]}
}

// bug reports what should not happen.
func bug(err error) *frame.Error {
	return &frame.Error{Name: internal, Value: err.Error(), Traceback: []string{internal + ": " + err.Error(), "this is a bug of warpbook; the session goes on"}}
}
