package ask

import (
	"fmt"
	"go/ast"
	"go/types"
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
	defer failure.Rescue("inspect", &fail)
	at := byteOffset(src, cursor)
	if from, to, ok := check.MagicName(src, at); ok {
		if m := e.Magics.Find(strings.TrimLeft(src[from:to], "%")); m != nil {
			text = m.Usage()
		}
	} else if p := e.partial(src, at); p != nil {
		text = e.describeAt(p)
	}
	return text, nil
}

// describeAt describes the name at the cursor.
func (e *Asker) describeAt(p *partial) string {
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
	}
	return e.describeObject(o, recv)
}

// describeUnimported describes the member of a package that no cell has imported yet,
// and gives the import statement.
func (e *Asker) describeUnimported(p *partial, id *ast.Ident, sel *ast.SelectorExpr) string {
	if sel == nil {
		return ""
	}
	name, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	var texts []string
	for _, pkg := range e.unimported(p, name) {
		if o := pkg.Scope().Lookup(id.Name); o != nil && o.Exported() {
			texts = append(texts, fmt.Sprintf("import %q\n\n%s", pkg.Path(), e.describeObject(o, nil)))
		}
	}
	return strings.Join(texts, "\n\n")
}

// describeObject returns an object's declaration and documentation. For a field or a
// method, recv is the type that it was selected from.
func (e *Asker) describeObject(o types.Object, recv types.Type) string {
	if p, ok := o.(*types.PkgName); ok {
		return e.doc(p.Imported().Path(), "", "package "+p.Imported().Path())
	}
	text := e.Named(types.ObjectString(o, e.Qualify))
	if b, ok := o.(*types.Builtin); ok {
		return "builtin " + b.Name()
	}
	if o.Pkg() == nil {
		return text
	}
	name := namespace.MemberName(o, recv)
	if d := e.Decls[name]; d != nil && o.Pkg().Path() == "main" {
		return d.Source()
	}
	if v, ok := o.(*types.Var); ok && e.Live[name] == v {
		return text + e.held(v)
	}
	return e.doc(o.Pkg().Path(), name, text)
}

// held returns the value of a live variable. A running cell may be changing it.
func (e *Asker) held(v *types.Var) string {
	if e.Busy() {
		return ""
	}
	if s := brief.Value(e.ValueOf(v)); s != "" {
		return " = " + s
	}
	return ""
}

func (e *Asker) doc(path, name, text string) string {
	if e.Docs != nil {
		if d := e.Docs(path, name); d != "" {
			return d
		}
	}
	return text
}
