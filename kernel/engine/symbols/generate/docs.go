package main

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/format"
	"strings"
)

// docs are the declarations of a package's exported objects, each with its comment, by
// the names Func, Type, Type.Method and Type.Field; "" is the package.
func (w *writer) docs() map[string]string {
	docs := map[string]string{"": join("package "+w.types.Name()+" // import "+w.types.Path(), w.doc.Doc)}
	for _, v := range append(w.doc.Consts, w.doc.Vars...) {
		w.values(docs, v)
	}
	for _, f := range w.doc.Funcs {
		docs[f.Name] = w.function(f)
	}
	for _, t := range w.doc.Types {
		w.typeDocs(docs, t)
	}
	for name := range docs {
		if first, member, _ := strings.Cut(name, "."); name != "" && (!ast.IsExported(first) || member != "" && !ast.IsExported(member)) {
			delete(docs, name)
		}
	}
	return docs
}

func (w *writer) typeDocs(docs map[string]string, t *doc.Type) {
	for _, v := range append(t.Consts, t.Vars...) {
		w.values(docs, v)
	}
	for _, f := range t.Funcs {
		docs[f.Name] = w.function(f)
	}
	for _, m := range t.Methods {
		docs[t.Name+"."+m.Name] = w.function(m)
	}
	for _, s := range t.Decl.Specs {
		ts := s.(*ast.TypeSpec)
		if ts.Name.Name != t.Name {
			continue
		}
		for _, f := range members(ts.Type) {
			for _, n := range f.Names {
				field := *f
				field.Names, field.Doc, field.Comment, field.Tag = []*ast.Ident{n}, nil, nil, nil
				docs[t.Name+"."+n.Name] = join(t.Name+"."+w.print(&ast.FieldList{List: []*ast.Field{&field}}), comment(f.Doc, f.Comment))
			}
		}
		docs[t.Name] = join("type "+w.print(ts), t.Doc)
	}
}

// members are the fields of a struct type or the methods of an interface.
func members(x ast.Expr) []*ast.Field {
	switch x := x.(type) {
	case *ast.StructType:
		return x.Fields.List
	case *ast.InterfaceType:
		return x.Methods.List
	}
	return nil
}

func comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return g.Text()
		}
	}
	return ""
}

func (w *writer) function(f *doc.Func) string {
	decl := *f.Decl
	decl.Doc, decl.Body = nil, nil
	return join(w.print(&decl), f.Doc)
}

func (w *writer) values(docs map[string]string, v *doc.Value) {
	for _, s := range v.Decl.Specs {
		vs := s.(*ast.ValueSpec)
		text := comment(vs.Doc, vs.Comment)
		if text == "" {
			text = v.Doc
		}
		for _, n := range vs.Names {
			head := v.Decl.Tok.String() + " " + n.Name
			if vs.Type != nil {
				head += " " + w.print(vs.Type)
			}
			docs[n.Name] = join(head, text)
		}
	}
}

// print formats a node with a fresh file set, because positions would bring back the
// blank lines of the source.
func (w *writer) print(n any) string {
	var b bytes.Buffer
	if l, ok := n.(*ast.FieldList); ok { // of one field
		f := l.List[0]
		if sig, ok := f.Type.(*ast.FuncType); ok {
			return f.Names[0].Name + strings.TrimPrefix(w.print(sig), "func")
		}
		return f.Names[0].Name + " " + w.print(f.Type)
	}
	if err := format.Node(&b, w.fset, n); err != nil {
		return err.Error()
	}
	return b.String()
}

func join(head, text string) string {
	return strings.TrimSpace(head + "\n\n" + strings.TrimSpace(text))
}
