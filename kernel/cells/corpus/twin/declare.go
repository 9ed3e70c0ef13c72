package twin

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpbook/kernel/engine/split"
)

// names are those that the declaration declares, none of a method.
func (d *declaration) names() (names []string) {
	for _, decl := range d.file.Decls {
		names = append(names, Declared(decl)...)
	}
	if d.receiver() != "" || d.isInit() {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// function is the syntax of a function or a method, nil of another declaration.
func (d *declaration) function() *ast.FuncDecl {
	f, _ := d.file.Decls[0].(*ast.FuncDecl)
	return f
}

// receiver is the name of the type that has the method, "" if it is none.
func (d *declaration) receiver() string {
	if f := d.function(); f != nil && f.Recv != nil {
		return Receiver(f)
	}
	return ""
}

func (d *declaration) isInit() bool {
	f := d.function()
	return f != nil && f.Recv == nil && f.Name.Name == "init"
}

// methodOf is the method that a declaration declares.
func (t *Twin) methodOf(d *declaration) method {
	return method{t.base(t.now[d.receiver()]), d.function().Name.Name}
}

// base is the type that an alias means.
func (t *Twin) base(m *meaning) *meaning {
	if m == nil || m.by == nil || m.by.kind != split.Type {
		return m
	}
	for _, s := range m.by.file.Decls[0].(*ast.GenDecl).Specs {
		s := s.(*ast.TypeSpec)
		if of, ok := s.Type.(*ast.Ident); ok && s.Assign.IsValid() && s.Name.Name == m.name {
			for _, u := range m.by.uses {
				if from, _ := m.by.cut(of); u.from == from {
					return t.base(u.meaning)
				}
			}
		}
	}
	return m
}

// newDeclarations are the declarations of a piece: each type of a group is one.
func newDeclarations(text string, kind split.Kind, cell int) (list []*declaration, ok bool) {
	p, err := parseDeclaration(text)
	if err != nil {
		return nil, false
	}
	g, group := p.file.Decls[0].(*ast.GenDecl)
	if kind != split.Type || !group || len(g.Specs) < 2 {
		return []*declaration{{parsed: p, kind: kind, cell: cell}}, true
	}
	for _, s := range g.Specs {
		from, to := p.cut(s)
		one, err := parseDeclaration("type " + text[from:to])
		if err != nil {
			return nil, false
		}
		list = append(list, &declaration{parsed: one, kind: kind, cell: cell})
	}
	return list, true
}

// tokens is a text without comments and spaces.
func tokens(text string) string {
	var s scanner.Scanner
	var words []string
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	for {
		_, t, lit := s.Scan()
		switch {
		case t == token.EOF:
			return strings.Join(words, " ")
		case t == token.SEMICOLON:
		case lit != "":
			words = append(words, lit)
		default:
			words = append(words, t.String())
		}
	}
}

// signature is the receiver and the types of a method, as its text has them: a type parameter is
// its number.
func (d *declaration) signature() string {
	f, list := d.function(), []string{}
	_, pointer := f.Recv.List[0].Type.(*ast.StarExpr)
	params := map[string]string{}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name != Receiver(f) {
			params[id.Name] = strconv.Itoa(len(params))
		}
		return true
	})
	add := func(fields *ast.FieldList) {
		for _, p := range fieldsOf(fields) {
			from, to := d.cut(p.Type)
			words := strings.Fields(tokens(d.parsed.text[from:to]))
			for i, word := range words {
				words[i] = cmp.Or(params[word], word)
			}
			for range max(1, len(p.Names)) {
				list = append(list, strings.Join(words, " "))
			}
		}
		list = append(list, ";")
	}
	add(f.Type.Params)
	add(f.Type.Results)
	return fmt.Sprint(pointer, strings.Join(list, ","))
}

func fieldsOf(l *ast.FieldList) []*ast.Field {
	if l == nil {
		return nil
	}
	return l.List
}

// mentions reports whether a text has one of some names that another text may declare.
func (p parsed) mentions(names map[string]bool) bool {
	return slices.ContainsFunc(p.free, func(id *ast.Ident) bool { return names[id.Name] })
}

// declare gives the names that a run declares and imports their meaning; defined are those that
// it defines. It returns the declarations that are new: also those that mention a name which
// changes.
func (t *Twin) declare(declared []*declaration, imported map[string]string, defined map[string]bool) (fresh []*declaration) {
	var own []*declaration // without functions init
	run := len(t.runs) - 1
	changed, owned, replaced := map[string]bool{}, maps.Clone(defined), map[method]bool{}
	change := func(d *declaration) {
		for _, name := range d.names() {
			changed[name] = true
		}
	}
	for _, d := range declared {
		if d.isInit() {
			fresh = append(fresh, d)
			continue
		}
		own = append(own, d)
		for _, name := range d.names() {
			owned[name] = true
		}
		if d.receiver() != "" {
			m := t.methodOf(d)
			replaced[m] = true
			if was := t.methods[m]; len(was) > 0 && was[len(was)-1].signature() != d.signature() { // its type is another one
				changed[m.of.name] = true
			}
		}
	}
	for name := range defined {
		was := t.now[name]
		changed[name] = was == nil || !was.variable() || t.retyped[definition{run, name}]
	}
	for name, path := range imported {
		was := t.now[name]
		owned[name], changed[name] = true, was == nil || was.path != path
	}
	same := map[*declaration]*declaration{} // whose names keep their meaning
	for _, d := range own {
		if was := t.like(d); was != nil && !t.omits(was, replaced) {
			same[d] = was
		} else {
			change(d)
		}
	}
	stale := map[*declaration]bool{}
	for again := true; again; {
		again = false
		for d := range same {
			if d.mentions(changed) || slices.ContainsFunc(d.names(), func(name string) bool { return changed[name] }) {
				delete(same, d)
				change(d)
				again = true
			}
		}
		for _, d := range slices.Concat(t.live, t.lost) {
			if !stale[d] && !t.superseded(d, owned, replaced) && (d.mentions(changed) || d.kind == split.Type && len(d.means) > 0 && changed[d.means[0].name]) {
				stale[d] = true
				if !t.broken[version{run, d.parsed.text}] || slices.Contains(t.live, d) {
					change(d)
				}
				again = true
			}
		}
	}
	for _, d := range own {
		if was := same[d]; was != nil {
			stale[was] = false
		}
	}
	live, lost := t.live, t.lost
	t.live, t.lost = nil, nil
	for _, d := range live {
		kept := slices.ContainsFunc(own, func(o *declaration) bool { return same[o] == d })
		switch {
		case kept || !stale[d] && !t.superseded(d, owned, replaced):
			t.live = append(t.live, d)
		case stale[d] && !t.omitted(d, owned):
			lost = append(lost, d)
		}
	}
	for _, d := range lost {
		switch {
		case t.superseded(d, owned, replaced):
		case stale[d] && !t.broken[version{run, d.parsed.text}]:
			fresh = append(fresh, &declaration{parsed: d.parsed, kind: d.kind, cell: d.cell, was: d})
		default:
			t.lost = append(t.lost, d)
			for _, m := range d.means {
				if t.now[m.name] == m {
					delete(t.now, m.name)
				}
			}
		}
	}
	for _, d := range own {
		if same[d] == nil {
			fresh = append(fresh, d)
		}
	}
	for name, path := range imported {
		if changed[name] {
			t.add(meaning{name: name, path: path})
		}
	}
	for _, d := range fresh {
		for _, name := range d.names() {
			now := t.now[name]
			d.means = append(d.means, t.add(meaning{name: name, by: d}))
			if d.was != nil && now != nil && now.by != d.was { // another declaration has the name
				t.now[name] = now
			}
		}
	}
	return fresh
}

// like is the live declaration with the text of one, whose names mean it, nil if there is none.
func (t *Twin) like(d *declaration) *declaration {
	for _, was := range t.live {
		current := !slices.ContainsFunc(was.means, func(m *meaning) bool { return t.now[m.name] != m })
		if current && was.kind == d.kind && tokens(was.parsed.text) == tokens(d.parsed.text) {
			return was
		}
	}
	return nil
}

// omits reports whether a run that declares a type again lacks a method that the cell of the
// type has declared.
func (t *Twin) omits(d *declaration, replaced map[method]bool) bool {
	return d.kind == split.Type && slices.ContainsFunc(t.live, func(m *declaration) bool {
		return m.receiver() != "" && m.cell == d.cell && !replaced[t.methodOf(m)] && slices.Contains(d.means, t.methodOf(m).of)
	})
}

// omitted reports whether a method is left out by a run that declares its type anew: those of
// other cells stay.
func (t *Twin) omitted(d *declaration, owned map[string]bool) bool {
	of := t.now[d.receiver()]
	return of != nil && owned[of.name] && of.by != nil && of.by.cell == d.cell
}

// superseded reports whether a run declares the names or the method of a declaration.
func (t *Twin) superseded(d *declaration, owned map[string]bool, replaced map[method]bool) bool {
	if d.receiver() != "" {
		return replaced[t.methodOf(d)]
	}
	names := d.names()
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !owned[name] })
}

// enter adds a declaration to the program, after its names have their meanings.
func (t *Twin) enter(r *cellRun, d *declaration) {
	d.fragment = t.of(d.parsed)
	for i, u := range d.uses {
		for _, m := range d.means {
			if m.name == u.name {
				d.uses[i].meaning = m
			}
		}
	}
	r.declarations = append(r.declarations, d)
	switch {
	case d.isInit():
		id := t.fresh("init", true)
		from, to := d.cut(d.function().Name)
		d.uses = append(d.uses, use{from, to, &meaning{name: "init", id: id}})
		slices.SortFunc(d.uses, func(a, b use) int { return a.from - b.from })
		r.inits = append(r.inits, id)
		return
	case d.receiver() != "":
		m := t.methodOf(d)
		if m.of == nil || m.name == "_" {
			break // the check of types tells, or nothing calls it
		}
		bodies := t.methods[m]
		d.body = len(bodies)
		for i, b := range bodies { // one of this run is an error
			if slices.Contains(r.declarations[:len(r.declarations)-1], b) {
				d.body = i
			}
		}
		r.adds = r.adds || len(bodies) == 0 && m.of.by != nil && !slices.Contains(r.declarations, m.of.by)
		d.of, d.run, t.methods[m] = m, len(t.runs)-1, append(bodies, d)
		r.bodies = append(r.bodies, d)
	}
	t.live = append(t.live, d)
}
