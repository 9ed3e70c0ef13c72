package ask

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/brief"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
)

// Inspect returns the declaration and the documentation of the name at the cursor, which
// is counted in code points. If there is no declared name, it describes the function
// whose arguments the cursor is in, and otherwise returns "". It fails if the engine or
// the type checker panics.
func (e *Asker) Inspect(src string, cursor int) (text string, fail *cellproto.Error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.inspect(src, cursor)
}

// InspectWhole is Inspect that also returns the package and the name of a compiled object,
// whose source the engine does not have; "" for any other.
func (e *Asker) InspectWhole(src string, cursor int) (text, path, name string, fail *cellproto.Error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.path, e.name = "", ""
	text, fail = e.inspect(src, cursor)
	return text, e.path, e.name, fail
}

// inspect is Inspect with Mu held.
func (e *Asker) inspect(src string, cursor int) (text string, fail *cellproto.Error) {
	defer failure.Rescue("inspect", &fail)
	at := byteOffset(src, cursor)
	if from, to, ok := check.MagicName(src, at); ok {
		if m := e.Magics.Find(strings.TrimLeft(src[from:to], "%")); m != nil {
			text = m.Usage()
		}
	} else if m := e.magicAt(src, at); m != nil {
		text = m.describe()
	} else if word := src[identStart(src, at):identEnd(src, at)]; token.IsKeyword(word) {
		text = words[word]
	} else if p := e.partial(src, at); p != nil {
		text = e.describeAt(p)
	}
	return text, nil
}

// describeAt describes the name at the cursor.
func (e *Asker) describeAt(p *partial) string {
	if path := p.imports(); path != "" {
		return e.doc(path, "", "package "+path)
	}
	id, sel := p.name()
	if id == nil || p.info.ObjectOf(id) == nil && e.describeUnimported(p, id, sel) == "" {
		id, sel = p.called()
	}
	if id == nil {
		return ""
	}
	o := p.info.ObjectOf(id)
	if o == nil {
		return e.describeUnimported(p, id, sel)
	}
	var recv types.Type
	if sel != nil {
		if s := p.info.Selections[sel]; s != nil {
			recv = s.Recv()
		}
	} else if v, ok := o.(*types.Var); ok && v.IsField() {
		recv = p.literal()
	}
	text := e.describeObject(o, recv)
	if pkg, ok := o.(*types.PkgName); ok && !o.Pos().IsValid() && e.Live[o.Name()] == nil { // see missing
		text = toImport(pkg.Imported().Path(), text)
	}
	return text
}

// describeUnimported describes a package that no cell has imported yet, or a member of one,
// and gives the import statement.
func (e *Asker) describeUnimported(p *partial, id *ast.Ident, sel *ast.SelectorExpr) string {
	var texts []string
	if sel == nil {
		for _, pkg := range e.unimported(p, id) {
			texts = append(texts, toImport(pkg.Path(), e.doc(pkg.Path(), "", "package "+pkg.Path())))
		}
		return strings.Join(append(texts, e.ofModules(p, id, "")...), "\n\n")
	}
	name, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, pkg := range e.unimported(p, name) {
		if o := pkg.Scope().Lookup(id.Name); o != nil && o.Exported() {
			texts = append(texts, toImport(pkg.Path(), e.describeObject(o, nil)))
		}
	}
	return strings.Join(append(texts, e.ofModules(p, name, id.Name)...), "\n\n")
}

// ofModules describes a member, or with an empty name the package, of packages that %pkg has
// added and no cell has imported.
func (e *Asker) ofModules(p *partial, pkg *ast.Ident, member string) (texts []string) {
	if p.info.ObjectOf(pkg) != nil {
		return nil
	}
	named := e.Importer.Named(pkg.Name)
	for _, path := range slices.Sorted(maps.Keys(named)) {
		if text := named[path][member]; text != "" {
			texts = append(texts, toImport(path, text))
		}
	}
	return texts
}

// toImport is a text with the import statement of its package.
func toImport(path, text string) string { return fmt.Sprintf("import %q\n\n%s", path, text) }

// describeObject returns an object's declaration and documentation. For a field or a
// method, recv is the type that it was selected from.
func (e *Asker) describeObject(o types.Object, recv types.Type) string {
	if p, ok := o.(*types.PkgName); ok {
		return e.doc(p.Imported().Path(), "", "package "+p.Imported().Path())
	}
	text := e.Named(types.ObjectString(o, e.Qualify))
	if b, ok := o.(*types.Builtin); ok {
		return cmp.Or(words[b.Name()], "builtin "+b.Name())
	}
	if o.Pkg() == nil {
		return cmp.Or(words[o.Name()], text)
	}
	v, isVar := o.(*types.Var)
	if isVar && v.IsField() {
		recv = owner(v, recv)
		text += tag(v, recv)
	}
	name := namespace.MemberName(o, recv)
	if o.Pkg().Path() == "main" {
		if d := e.Decls[name]; d != nil {
			return constant(o, text) + d.Source() + e.comment(d)
		}
		if typ, member, ok := strings.Cut(name, "."); ok {
			return text + memberComment(e.Decls[typ], typ, member)
		}
	}
	if isVar && e.Live[name] == v {
		return text + e.held(v)
	}
	doc := e.doc(o.Pkg().Path(), name, text)
	if t, ok := o.(*types.TypeName); ok {
		if n, ok := types.Unalias(t.Type()).(*types.Named); ok && n.Obj() != o && n.Obj().Pkg() != nil {
			return "type " + o.Name() + " = " + e.TypeString(n) + "\n\n" + e.describeObject(n.Obj(), nil)
		}
	}
	if doc == text {
		return strings.TrimSpace(cmp.Or(constant(o, text), doc))
	}
	return constant(o, text) + doc
}

// constant is the line of a constant with its value, "" for another object: the source and
// the documentation show the group.
func constant(o types.Object, text string) string {
	c, ok := o.(*types.Const)
	if !ok {
		return ""
	}
	return text + " = " + c.Val().String() + "\n\n"
}

// comment is the comment above a declaration of a cell.
func (e *Asker) comment(d *namespace.Declaration) string {
	var lines []string
	for n := d.Line() - 1; ; n-- {
		line, _ := e.Line(d.Cell, n)
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	return "\n\n" + strings.Join(lines, "\n")
}

// held returns the value of a live variable. A running cell may be changing it.
func (e *Asker) held(v *types.Var) string {
	if _, function := v.Type().Underlying().(*types.Signature); function || e.Busy() { // its value is an address
		return ""
	}
	if s := brief.Value(e.ValueOf(v)); s != "" {
		return " = " + s
	}
	return ""
}

func (e *Asker) doc(path, name, text string) string {
	e.path, e.name = path, name
	return cmp.Or(e.documented(path, name), text)
}

// documented is the documentation of an object of a package, "" if there is none.
func (e *Asker) documented(path, name string) string {
	if e.Docs != nil {
		if d := e.Docs(path, name); d != "" {
			return d
		}
	}
	return e.Importer.Doc(path, name)
}
