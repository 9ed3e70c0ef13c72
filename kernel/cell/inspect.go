package cell

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"warpbook/kernel/cell/magic"
)

// Inspect describes the name at the cursor, which is counted in code points:
// its declaration, and its documentation where there is one. Where there is no
// name that means anything, it describes the function whose arguments the
// cursor is in, and is "" without one.
func (e *Engine) Inspect(src string, cursor int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := byteOffset(src, cursor)
	if from, to, ok := magicName(src, at); ok {
		if m := magic.Find(strings.TrimLeft(src[from:to], "%")); m != nil {
			return m.Usage()
		}
		return ""
	}
	p := e.partial(src, at)
	if p == nil {
		return ""
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
	}
	return e.describeObject(o, recv)
}

// describeUnimported describes the member of a package that no cell has imported
// yet, and how it is imported.
func (e *Engine) describeUnimported(p *partial, id *ast.Ident, sel *ast.SelectorExpr) string {
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

// describeObject is an object's declaration and documentation. For a field or
// a method, recv is the type that it was selected from.
func (e *Engine) describeObject(o types.Object, recv types.Type) string {
	if p, ok := o.(*types.PkgName); ok {
		return e.doc(p.Imported().Path(), "", "package "+p.Imported().Path())
	}
	text := e.named(types.ObjectString(o, e.qualify))
	if b, ok := o.(*types.Builtin); ok {
		return "builtin " + b.Name()
	}
	if o.Pkg() == nil {
		return text
	}
	name := memberName(o, recv)
	if d := e.decls[name]; d != nil && o.Pkg().Path() == "main" {
		return d.source()
	}
	if v, ok := o.(*types.Var); ok && e.live[name] == v {
		return text + e.held(v)
	}
	return e.doc(o.Pkg().Path(), name, text)
}

// held tells the value of a live variable. A cell that runs may be changing it.
func (e *Engine) held(v *types.Var) string {
	if e.stop.busy() {
		return ""
	}
	if s := summary(e.valueOf(v)); s != "" {
		return " = " + s
	}
	return ""
}

// memberName is T.Name for a field or method, else the plain name.
func memberName(o types.Object, recv types.Type) string {
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil {
		recv = fn.Signature().Recv().Type()
	} else if v, ok := o.(*types.Var); !ok || !v.IsField() {
		return o.Name()
	}
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if n, ok := types.Unalias(recv).(*types.Named); ok {
		return n.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

func (e *Engine) doc(path, name, text string) string {
	if e.config.Doc != nil {
		if d := e.config.Doc(path, name); d != "" {
			return d
		}
	}
	return text
}

// source is the declaration without its line directive.
func (d *declaration) source() string {
	before, rest, _ := strings.Cut(d.text, "/*line ")
	_, rest, _ = strings.Cut(rest, "*/")
	return before + rest
}
