//go:build edited

package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/debug"
	"warpbook/kernel/engine/bytecode"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
)

// watchTime is how long an expression may take: less than a client waits.
const watchTime = 3 * time.Second

// variables are the variables of one frame, or, without a point, those of the session.
type variables struct {
	tracer *Tracer
	point  *point // whose check passes them, nil if they are unknown: the cell ran before a client attached
	values []bytecode.Local
	copies []reflect.Value // variables in place of those in registers, for expressions; nil before
	fixed  bool            // they belong to a caller: only those in memory can be assigned
	set    [][]any         // new values of the variables, nil if none is assigned
}

// fill gives a frame its scopes.
func (v *variables) fill(f *debug.Frame) {
	f.Scopes = []debug.Scope{{Name: "Locals", Variables: v.list}, {Name: "Arguments", Variables: v.arguments}, {Name: "Globals", Variables: v.tracer.Globals}}
	f.Evaluate, f.Copy = v.evaluate, v.copy
}

// copy gives the session a variable with the value of a local one.
func (v *variables) copy(from, to string) error {
	if v.point != nil {
		for i, l := range v.point.locals {
			if l.name != from || i >= len(v.values) || !v.values[i].Known || v.values[i].Type == nil {
				continue
			}
			at, err := v.made(i)
			if err != nil {
				return err
			}
			if now := v.now(i); now.IsValid() {
				at.Elem().Set(now)
			}
			return v.tracer.engine.Define(to, v.values[i].Type, at)
		}
	}
	return fmt.Errorf("%s: no local variable of the frame has that name", from)
}

// list are the parameters and the local variables.
func (v *variables) list() []debug.Variable { return v.those(func(local) bool { return true }) }

// arguments are the parameters.
func (v *variables) arguments() []debug.Variable {
	return v.those(func(l local) bool { return l.parameter })
}

func (v *variables) those(are func(local) bool) (list []debug.Variable) {
	if v.point == nil {
		return []debug.Variable{{Name: "(locals)", Value: "unknown: the cell of the function ran before the debugger was started"}}
	}
	for i, l := range v.point.locals {
		if !are(l) {
			continue
		}
		if i >= len(v.values) || !v.values[i].Known {
			list = append(list, debug.Variable{Name: l.name, Value: "unknown: the compiled code does not keep it"})
			continue
		}
		list = append(list, v.settable(describe(l.name, l.name, v.now(i))))
	}
	return list
}

// now is a local variable, or its value.
func (v *variables) now(i int) reflect.Value {
	switch l := v.values[i]; {
	case l.At.IsValid():
		return l.At
	case v.copies != nil && v.copies[i].IsValid():
		return v.copies[i]
	default:
		return reflect.ValueOf(&v.values[i].Value).Elem().Elem()
	}
}

// settable lets clients assign a variable and its parts.
func (v *variables) settable(x debug.Variable) debug.Variable {
	if x.Path != "" {
		x.Set = func(expression string) error {
			_, err := v.compute(x.Path + " = " + expression)
			return err
		}
	}
	if parts := x.Children; parts != nil {
		x.Children = func() (list []debug.Variable) {
			for _, part := range parts() {
				list = append(list, v.settable(part))
			}
			return list
		}
	}
	return x
}

// lookup is the value of a name in the frame.
func (v *variables) lookup(name string) (reflect.Value, bool) {
	if v.point != nil {
		for i, l := range v.point.locals {
			if l.name != name {
				continue
			}
			if i >= len(v.values) || !v.values[i].Known { // no global of that name
				return reflect.Value{}, false
			}
			return v.now(i), true
		}
	}
	return v.tracer.lookup(name)
}

func (t *Tracer) lookup(name string) (reflect.Value, bool) {
	g, ok := t.engine.Global(name)
	return g.Value, ok
}

// evaluate computes an expression: a simple one over the values, which takes no time, any
// other one by compiling it.
func (v *variables) evaluate(expression string) (debug.Variable, error) {
	if !strings.Contains(expression, "'") { // the value of a rune constant has a type of its own
		x, err := Evaluate(expression, v.lookup)
		if err == nil {
			return v.settable(describe(expression, expression, x)), nil
		}
		if !errors.As(err, new(unsupported)) {
			return debug.Variable{}, err
		}
	}
	values, err := v.compute(expression)
	if err != nil {
		return debug.Variable{}, err
	}
	if len(values) == 1 {
		return describe(expression, expression, reflect.ValueOf(values[0])), nil
	}
	all := debug.Variable{Name: expression, Type: "results"}
	var parts []debug.Variable
	for i, x := range values {
		part := describe(strconv.Itoa(i), "", reflect.ValueOf(x))
		parts, all.Value = append(parts, part), all.Value+", "+part.Value
	}
	if all.Value = strings.TrimPrefix(all.Value, ", "); len(parts) > 0 {
		all.Children = func() []debug.Variable { return parts }
	}
	return all, nil
}

// compute computes an expression, or executes an assignment, with compiled code. What it
// assigns to variables in registers is assigned when the goroutine goes on.
func (v *variables) compute(text string) ([]any, error) {
	var locals []namespace.Local
	var before [][]byte // of copies
	if v.point != nil {
		names := namesOf(text)
		for i, l := range v.point.locals {
			at, err := v.place(i)
			if err != nil {
				if names[l.name] { // it would be a global of that name
					return nil, err
				}
				continue
			}
			locals = append(locals, namespace.Local{Name: l.name, Type: v.values[i].Type, At: at.Addr()})
		}
		for _, c := range v.copies {
			before = append(before, slices.Clone(memory(c)))
		}
	}
	ctx, done := context.WithTimeout(context.Background(), watchTime)
	defer done()
	values, err := v.tracer.engine.Watch(ctx, text, locals)
	for i, old := range before {
		if now := memory(v.copies[i]); !bytes.Equal(now, old) && err == nil {
			err = v.assigned(i)
		}
	}
	return values, err
}

// namesOf are the names in a text that are not behind a dot.
func namesOf(text string) map[string]bool {
	names, file := map[string]bool{}, token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	before := token.ILLEGAL
	for {
		_, tok, name := s.Scan()
		if tok == token.EOF {
			return names
		}
		if tok == token.IDENT && before != token.PERIOD {
			names[name] = true
		}
		before = tok
	}
}

// made is a pointer to a new variable of the type of a local one. It fails if the program
// of an expression would have another type: instances of generic functions declare types
// of their own.
func (v *variables) made(i int) (p reflect.Value, err error) {
	name := v.point.locals[i].name
	if i >= len(v.values) || !v.values[i].Known || v.values[i].Type == nil {
		return p, fmt.Errorf("%s is unknown: the compiled code does not keep it", name)
	}
	l := v.values[i]
	if p, err = v.tracer.engine.Place(l.Type); err != nil {
		return p, err
	}
	is := reflect.TypeOf(l.Value)
	if l.At.IsValid() {
		is = l.At.Type()
	}
	if is != nil && !is.AssignableTo(p.Type().Elem()) {
		return p, fmt.Errorf("%s: its type is local to a generic function, which only a path such as %s.field or %s[0] reads", name, name, name)
	}
	return p, nil
}

// place is a local variable in memory: itself, or a copy of its value.
func (v *variables) place(i int) (reflect.Value, error) {
	p, err := v.made(i)
	if err != nil {
		return p, err
	}
	l := v.values[i]
	if l.At.IsValid() {
		return l.At, nil
	}
	if v.copies == nil {
		v.copies = make([]reflect.Value, len(v.values))
	}
	if !v.copies[i].IsValid() {
		if l.Value != nil {
			p.Elem().Set(reflect.ValueOf(l.Value))
		}
		v.copies[i] = p.Elem()
	}
	return v.copies[i], nil
}

// memory are the bytes of a variable, nil if there is none.
func memory(v reflect.Value) []byte {
	if !v.IsValid() {
		return nil
	}
	return unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size())
}

// assigned takes over the new value of a copy.
func (v *variables) assigned(i int) error {
	if v.fixed {
		v.copies[i] = reflect.Value{}
		return fmt.Errorf("%s: the variable of a caller is in a register: step out to assign it", v.point.locals[i].name)
	}
	if v.set == nil {
		v.set = make([][]any, len(v.values))
	}
	v.set[i] = []any{v.copies[i].Interface()}
	return nil
}

// Globals are the variables of the session.
func (t *Tracer) Globals() (list []debug.Variable) {
	session := &variables{tracer: t}
	for _, g := range t.engine.Globals() {
		x := session.settable(describe(g.Name, g.Name, g.Value))
		x.Type = g.Type
		list = append(list, x)
	}
	return list
}

// Find evaluates an expression over the globals.
func (t *Tracer) Find(expression string) (debug.Variable, error) {
	return (&variables{tracer: t}).evaluate(expression)
}

// frameName names a frame as tracebacks do.
func frameName(function string, cell int) string {
	if name := failure.FuncName(function); name != "" {
		return name
	}
	return cellproto.CellName(cell)
}
