package cell

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"warpbook/kernel/frame"
)

// When a cell gives a name a new meaning, what refers to the name must change
// with it. A function that keeps its signature is replaced in place. For
// anything else the dependents are compiled again: their sources are carried
// into the cell. One that does not compile any more is dropped with a warning.
// Variables keep their values; one whose type was declared again, alike but for
// methods, has the new type from then on, at its old place in memory.

// declaration is the source of a live function, method ("T.M"), type or
// constant group.
type declaration struct {
	name   string // the first, of a group
	names  []string
	base   string // of a method: the type
	text   string
	node   ast.Node        // until uses are known
	uses   map[string]bool // package-level names of cells
	cell   int
	serial int // of the unit that declared it first
}

// declarations lists the sources of a parsed cell, before it is rewritten.
func (e *Engine) declarations(s *source) (list []*declaration) {
	add := func(prefix string, n ast.Node, base string, names ...string) {
		p := e.ctx.FileSet.Position(n.Pos())
		d := &declaration{name: names[0], names: names, base: base, node: n, cell: cellOf(p.Filename),
			text: prefix + directive(cellOf(p.Filename), p.Line, p.Column) + s.text[s.offset(n.Pos()):s.offset(n.End())]}
		if old := s.carried(n.Pos()); old != nil {
			d.serial = old.serial
		}
		list = append(list, d)
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			base := baseName(d)
			switch i := slices.IndexFunc(s.replaced, func(r replacement) bool { return r.decl == d }); {
			case i >= 0:
				add("", d, s.replaced[i].base(), s.replaced[i].name())
			case base != "":
				add("", d, base, base+"."+d.Name.Name)
			case d != s.body && d.Name.Name != "init":
				add("", d, "", d.Name.Name)
			}
		case *ast.GenDecl:
			switch d.Tok {
			case token.TYPE:
				for _, spec := range d.Specs {
					add("type ", spec, "", e.specNames(spec)...)
				}
			case token.CONST:
				var names []string
				for _, spec := range d.Specs {
					names = append(names, e.specNames(spec)...)
				}
				if len(names) > 0 {
					add("", d, "", names...)
				}
			}
		}
	}
	return list
}

// noteUses finds the names of other cells' and this cell's declarations that
// a declaration refers to.
func (d *declaration) noteUses(info *types.Info) {
	d.uses = map[string]bool{}
	ast.Inspect(d.node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := info.Uses[id]; o != nil && o.Pkg() != nil && o.Pkg().Path() == "main" && o.Parent() == o.Pkg().Scope() {
				d.uses[o.Name()] = true
			}
		}
		return true
	})
	d.node = nil
}

// own are the names that the cell's own pieces declare, methods as "T.M".
func (e *Engine) own(c *checked) map[string]bool {
	own := map[string]bool{}
	for _, d := range e.declarations(c.source) {
		if c.carried(d.node.Pos()) == nil {
			for _, n := range d.names {
				own[n] = true
			}
		}
	}
	return own
}

// carryReceivers carries the types that the cell adds methods to, as only a
// type's own package can.
func (e *Engine) carryReceivers(c *checked) bool {
	own, need := e.own(c), c.anew
	if len(need) == 0 {
		return false
	}
	return e.carry(c, own, func(d *declaration) bool { return need[d.name] || need[d.base] })
}

// carry adds the live declarations that want holds for and that the cell does
// not replace itself.
func (e *Engine) carry(c *checked, own map[string]bool, want func(*declaration) bool) bool {
	n := len(c.source.carry)
	for _, d := range e.decls {
		_, broken := c.broken[d]
		replaced := slices.ContainsFunc(d.names, func(n string) bool { return own[n] })
		if !broken && !replaced && !slices.Contains(c.source.carry, d) && want(d) {
			c.source.carry = append(c.source.carry, d)
		}
	}
	slices.SortFunc(c.source.carry[n:], func(a, b *declaration) int { return strings.Compare(a.name, b.name) })
	return len(c.source.carry) > n
}

// carryMore carries what refers to a name whose meaning the cell changes.
func (e *Engine) carryMore(c *checked, h *hoist) bool {
	changed := e.changed(c, h)
	if len(changed) == 0 {
		return false
	}
	more := e.move(c, h, changed)
	own := e.own(c)
	for _, name := range h.names {
		own[name] = true
	}
	for again := true; again; {
		again = e.carry(c, own, func(d *declaration) bool {
			if d.base != "" && own[d.base] && e.decls[d.base] != nil && d.serial == e.decls[d.base].serial {
				return false // declared with the type, and left out by its new declaration
			}
			if !changed[d.base] && !intersect(d.uses, changed) && !(d.base == "" && changed[d.name]) {
				return false
			}
			if d.base != "" {
				changed[d.base] = true // a method is compiled with its type
			}
			for _, n := range d.names {
				changed[n] = true
			}
			return true
		})
		more = more || again
	}
	return more
}

func intersect(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// changed are the live names that mean something else after this cell.
func (e *Engine) changed(c *checked, h *hoist) map[string]bool {
	changed := map[string]bool{}
	for d := range c.broken {
		for _, n := range d.names {
			changed[n] = true
		}
	}
	for name := range e.names(c.file) {
		if old := e.live[name]; old != nil && !same(old, h.pkg.Scope().Lookup(name)) {
			changed[name] = true
		}
	}
	for _, name := range h.names {
		if e.live[name] != nil && !e.keeps(name, h.types[name]) {
			changed[name] = true
		}
	}
	return changed
}

// same says whether what refers to old can stay as it is.
func same(old, now types.Object) bool {
	switch o := old.(type) {
	case *types.Func:
		f, ok := now.(*types.Func)
		return ok && !isGeneric(o) && !isGeneric(f) && types.Identical(o.Type(), f.Type())
	case *types.Var:
		v, ok := now.(*types.Var)
		return ok && types.Identical(o.Type(), v.Type())
	case *types.Const:
		k, ok := now.(*types.Const)
		return ok && types.Identical(o.Type(), k.Type()) && constant.Compare(o.Val(), token.EQL, k.Val())
	case *types.PkgName:
		return true // no declaration refers to it by object
	}
	return false
}

// move finds variables of types that are declared again, alike but for methods, or
// that are made of such: they are declared again too.
func (e *Engine) move(c *checked, h *hoist, changed map[string]bool) bool {
	n := len(c.moved)
	for name, o := range e.live {
		v, ok := o.(*types.Var)
		if !ok || h.types[name] != nil || c.moved[name] != "" {
			continue
		}
		if text, now, ok := e.follow(h, v.Type(), map[types.Type]bool{}); ok && !types.Identical(v.Type(), now) {
			c.moved[name] = text
			changed[name] = true
		}
	}
	return len(c.moved) > n
}

// follow spells a variable's type for the cell, if it can, and says what it means
// there, where types that it is made of may be declared again. Outer are those
// around it.
func (e *Engine) follow(h *hoist, t types.Type, outer map[types.Type]bool) (text string, now types.Type, ok bool) {
	part := func(elem types.Type) (string, types.Type) {
		outer[t] = true
		text, now, ok = e.follow(h, elem, outer)
		return text, now
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		shadowed := e.live[t.Name()] != nil || h.pkg.Scope().Lookup(t.Name()) != nil
		return t.Name(), t, !shadowed && t.Kind() != types.UnsafePointer
	case *types.Named:
		return e.followNamed(h, t, outer)
	case *types.Pointer:
		text, now = part(t.Elem())
		return "*" + text, types.NewPointer(now), ok
	case *types.Slice:
		text, now = part(t.Elem())
		return "[]" + text, types.NewSlice(now), ok
	case *types.Array:
		text, now = part(t.Elem())
		return fmt.Sprintf("[%d]%s", t.Len(), text), types.NewArray(now, t.Len()), ok
	case *types.Map:
		key, same, spelled := e.follow(h, t.Key(), map[types.Type]bool{})
		if !spelled || !types.Identical(t.Key(), same) {
			return "", t, false
		}
		text, now = part(t.Elem())
		return "map[" + key + "]" + text, types.NewMap(t.Key(), now), ok
	}
	return "", t, false
}

func (e *Engine) followNamed(h *hoist, t *types.Named, outer map[types.Type]bool) (text string, now types.Type, ok bool) {
	text, now = t.Obj().Name(), t.Origin()
	if e.live[text] != t.Origin().Obj() {
		return "", t, false
	}
	if o, ok := h.pkg.Scope().Lookup(text).(*types.TypeName); ok && o.Pkg() == h.pkg {
		now = o.Type()
	}
	var texts []string
	var args []types.Type
	for a := range t.TypeArgs().Types() {
		text, now, ok := e.follow(h, a, map[types.Type]bool{})
		if !ok {
			return "", t, false
		}
		texts, args = append(texts, text), append(args, now)
	}
	if len(args) > 0 {
		inst, err := types.Instantiate(nil, now, args, true)
		if err != nil {
			return "", t, false
		}
		text, now = text+"["+strings.Join(texts, ", ")+"]", inst
	}
	return text, now, h.alike(t, now, outer)
}

// mostParts bounds the types that alike looks into: those of an instance may be
// made as they are asked for.
const mostParts = 500

// alike says whether a type that the cell declares again has the layout of the old
// one, and the same meaning: it differs in methods, and in names of other such
// types, at most.
func (h *hoist) alike(old, now types.Type, seen map[types.Type]bool) bool {
	if types.Identical(old, now) || seen[old] {
		return true
	}
	if seen[old] = true; len(seen) > mostParts {
		return false
	}
	sub := func(old, now types.Type) bool { return h.alike(old, now, seen) }
	switch old := types.Unalias(old).(type) {
	case *types.Named:
		n, ok := types.Unalias(now).(*types.Named)
		if !ok || n.Obj().Name() != old.Obj().Name() || n.Obj().Pkg() != h.pkg && n.Origin() != old.Origin() || n.TypeArgs().Len() != old.TypeArgs().Len() {
			return false
		}
		for i := range n.TypeArgs().Len() {
			if !sub(old.TypeArgs().At(i), n.TypeArgs().At(i)) {
				return false
			}
		}
		if types.IsInterface(old) {
			return len(seen) == 1 && types.Identical(old.Underlying(), n.Underlying())
		}
		return sub(old.Underlying(), n.Underlying())
	case *types.Pointer:
		p, ok := now.(*types.Pointer)
		return ok && sub(old.Elem(), p.Elem())
	case *types.Slice:
		s, ok := now.(*types.Slice)
		return ok && sub(old.Elem(), s.Elem())
	case *types.Array:
		a, ok := now.(*types.Array)
		return ok && a.Len() == old.Len() && sub(old.Elem(), a.Elem())
	case *types.Map:
		m, ok := now.(*types.Map)
		return ok && types.Identical(old.Key(), m.Key()) && sub(old.Elem(), m.Elem())
	case *types.Chan:
		c, ok := now.(*types.Chan)
		return ok && c.Dir() == old.Dir() && sub(old.Elem(), c.Elem())
	case *types.Struct:
		s, ok := now.(*types.Struct)
		if !ok || s.NumFields() != old.NumFields() {
			return false
		}
		for i := range s.NumFields() {
			f, g := old.Field(i), s.Field(i)
			if f.Name() != g.Name() || f.Embedded() != g.Embedded() || !sub(f.Type(), g.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// moveVars keeps moved variables where they are in memory, so that pointers to
// them and closures over them stay so. Types that are alike have the same layout;
// interfaces refer to their methods through tables of their own.
func (e *Engine) moveVars(c *checked, u *unit) {
	for name := range c.moved {
		from, ok := e.graph.units[e.live[name].Pkg()].vars[name]
		if t := u.pkg.Scope().Lookup(name).Type(); ok && !types.IsInterface(t) {
			u.vars[name] = reflect.NewAt(e.types.reflectType(t), from.UnsafePointer())
		}
	}
}

// moveValues gives moved variables that are elsewhere in memory their values.
func (e *Engine) moveValues(c *checked, u *unit) {
	for name := range c.moved {
		from, ok := e.graph.units[e.live[name].Pkg()].vars[name]
		if to := u.vars[name]; ok && to.UnsafePointer() != from.UnsafePointer() {
			to.Elem().Set(from.Elem().Convert(to.Elem().Type()))
		}
	}
}

// breaks drops the carried declarations that do not compile any more.
func (e *Engine) breaks(c *checked, diags []diagnostic) bool {
	n := len(c.broken)
	for _, d := range diags {
		decl := c.carried(d.pos)
		if decl == nil {
			continue
		}
		for _, x := range slices.Clone(c.source.carry) {
			if x == decl || x.base == decl.name {
				c.broken[x] = d
				for _, name := range x.names { // for the words of errors; forgotten if the cell is not run
					e.broken[name] = fmt.Sprintf("%s of %s no longer compiles since %s: %s", name, frame.CellName(x.cell), frame.CellName(c.cell), d)
				}
				c.source.carry = slices.DeleteFunc(c.source.carry, func(y *declaration) bool { return y == x })
			}
		}
	}
	return len(c.broken) > n
}

// unbreak is for a cell that is not run: what it would have broken stays.
func (e *Engine) unbreak(c *checked) {
	for d := range c.broken {
		for _, name := range d.names {
			delete(e.broken, name)
		}
	}
}

// redefine brings the sources of live declarations up to date.
func (e *Engine) redefine(c *checked, defined []string) {
	for _, name := range defined {
		e.undeclare(name)
	}
	for d := range c.broken {
		for _, name := range d.names {
			fmt.Fprintf(e.stderr, "warning: %s\n", e.broken[name])
			if d.base == "" {
				e.undeclare(name)
				delete(e.live, name)
			}
			delete(e.decls, name)
		}
	}
	for _, d := range c.decls {
		if d.serial == 0 {
			d.serial = e.serial
		}
		d.noteUses(c.info)
		for _, n := range d.names {
			e.decls[n] = d
			delete(e.broken, n)
		}
	}
}

// undeclare forgets the source of a name and of its methods.
func (e *Engine) undeclare(name string) {
	delete(e.decls, name)
	for n := range e.decls {
		if strings.HasPrefix(n, name+".") {
			delete(e.decls, n)
		}
	}
}

// replaceFuncs makes earlier functions do what those of the cell do that have
// the same name and signature, until undo.
func (e *Engine) replaceFuncs(c *checked) (undo []func()) {
	scope := c.pkg.Scope()
	for _, name := range scope.Names() {
		now := scope.Lookup(name)
		d := e.graph.owner[now]
		fn, ok := now.(*types.Func)
		if d == nil || now.Pkg() != c.pkg || strings.HasPrefix(name, "__") {
			continue
		}
		before := e.versions[name]
		undo = append(undo, func() { e.versions[name] = before })
		if old := e.live[name]; old == nil || !same(old, now) {
			delete(e.versions, name)
		}
		if !ok || isGeneric(fn) {
			continue
		}
		for _, v := range e.versions[name] {
			undo = append(undo, e.become(v, d.node.(*ast.FuncDecl), c.info))
		}
		e.versions[name] = append(e.versions[name], version{d, fn})
	}
	return undo
}

// version is a function that code of some cell calls.
type version struct {
	decl *decl
	fn   *types.Func
}

// become gives an earlier function the body of a new one, until undo.
func (e *Engine) become(v version, now *ast.FuncDecl, from *types.Info) (undo func()) {
	fd, name := *now, ident(now.Name.Pos(), v.fn.Name())
	fd.Name = name
	info, before, known := v.decl.unit.info, v.decl.node.(*ast.FuncDecl), newInfo()
	copyInfo(known, info, before)
	dropInfo(info, before)
	copyInfo(info, from, now)
	info.Defs[name] = v.fn
	v.decl.node, v.decl.analysed = &fd, false
	v.decl.deps, v.decl.compiled, v.decl.ifaces = nil, nil, nil
	v.decl.deferred, v.decl.recovers, v.decl.size = nil, false, 0
	e.unlink(v.decl)
	e.renewHomes()
	return func() { e.become(v, before, known) }
}

const oldPrefix = "__old_"

// keepOld lets x := f(x) read the x that it replaces by one of another type:
// where a statement means the live variable, it gets a name of its own.
func (e *Engine) keepOld(c *checked, h *hoist) {
	var u *unit // most cells need none
	ast.Inspect(c.body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || h.types[id.Name] == nil || h.info.Uses[id] == nil || h.info.Uses[id] != e.live[id.Name] || e.keeps(id.Name, h.types[id.Name]) {
			return true
		}
		v, ok := e.live[id.Name].(*types.Var)
		if !ok {
			p := e.ctx.FileSet.Position(id.Pos())
			h.errs = append(h.errs, diagnostic{cell: c.cell, line: p.Line, col: p.Column, msg: id.Name + " is replaced by a variable here, which needs another name to be made of it"})
			return true
		}
		if u == nil {
			u = &unit{pkg: types.NewPackage("main", "main"), info: newInfo(), path: fmt.Sprintf("main·%d·old", e.serial+1), vars: map[string]reflect.Value{}}
		}
		e.addOld(u, h, v)
		id.Name = oldPrefix + id.Name
		return true
	})
}

// addOld adds to u a second name for a live variable.
func (e *Engine) addOld(u *unit, h *hoist, v *types.Var) {
	id := ident(token.NoPos, oldPrefix+v.Name())
	if _, ok := u.vars[id.Name]; ok {
		return
	}
	o := types.NewVar(token.NoPos, u.pkg, id.Name, v.Type())
	u.pkg.Scope().Insert(o)
	u.info.Defs[id] = o
	u.vars[id.Name] = e.graph.units[v.Pkg()].vars[v.Name()]
	e.graph.units[u.pkg] = u
	e.graph.own(&decl{unit: u, node: &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}}}}}, id)
	h.old = append(h.old, o)
}
