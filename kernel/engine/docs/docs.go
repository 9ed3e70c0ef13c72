// Package docs prints the documentation of Go packages as Shift-Tab shows it: the
// declaration of an object without its body, and its comment. The generator of package
// symbols is one of its callers, and package ask the other, for packages that %pkg has
// added. It must not import the engine.
package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// OfSource reads the documentation of a package from the files of its folder that build tags
// select, as Of returns it.
func OfSource(path, dir string, tags []string) (map[string]string, error) {
	ctx := build.Default
	ctx.BuildTags, ctx.CgoEnabled = tags, false
	p, err := ctx.ImportDir(dir, 0)
	if err != nil {
		return nil, fmt.Errorf("docs: %s: %w", path, err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("docs: %s: %w", path, err)
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, path)
	if err != nil {
		return nil, fmt.Errorf("docs: %s: %w", path, err)
	}
	return Of(fset, d), nil
}

// printer prints syntax of a file set.
type printer struct{ fset *token.FileSet }

// Of returns the declarations of a package's exported objects, each with its comment, by
// the names Func, Type, Type.Method and Type.Field; "" is the package.
func Of(fset *token.FileSet, d *doc.Package) map[string]string {
	p := printer{fset}
	docs := map[string]string{"": join("package "+d.Name+" // import "+d.ImportPath, d.Doc)}
	for _, v := range append(d.Consts, d.Vars...) {
		p.values(docs, v)
	}
	for _, f := range d.Funcs {
		docs[f.Name] = p.function(f)
	}
	for _, t := range d.Types {
		p.typeDocs(docs, t)
	}
	for name := range docs {
		if first, member, _ := strings.Cut(name, "."); name != "" && (!ast.IsExported(first) || member != "" && !ast.IsExported(member)) {
			delete(docs, name)
		}
	}
	return docs
}

func (p printer) typeDocs(docs map[string]string, t *doc.Type) {
	for _, v := range append(t.Consts, t.Vars...) {
		p.values(docs, v)
	}
	for _, f := range t.Funcs {
		docs[f.Name] = p.function(f)
	}
	for _, m := range t.Methods {
		docs[t.Name+"."+m.Name] = p.function(m)
	}
	for _, s := range t.Decl.Specs {
		ts := s.(*ast.TypeSpec)
		if ts.Name.Name != t.Name {
			continue
		}
		for _, f := range Members(ts.Type) {
			for _, n := range f.Names {
				field := *f
				field.Names, field.Doc, field.Comment, field.Tag = []*ast.Ident{n}, nil, nil, nil
				docs[t.Name+"."+n.Name] = join(t.Name+"."+p.print(&ast.FieldList{List: []*ast.Field{&field}}), Comment(f.Doc, f.Comment))
			}
		}
		docs[t.Name] = join("type "+p.print(ts), t.Doc)
	}
}

// Members are the fields of a struct type or the methods of an interface.
func Members(x ast.Expr) []*ast.Field {
	switch x := x.(type) {
	case *ast.StructType:
		return x.Fields.List
	case *ast.InterfaceType:
		return x.Methods.List
	}
	return nil
}

// Comment is the text of the first comment that there is.
func Comment(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return g.Text()
		}
	}
	return ""
}

func (p printer) function(f *doc.Func) string {
	decl := *f.Decl
	decl.Doc, decl.Body = nil, nil
	return join(p.print(&decl), f.Doc)
}

func (p printer) values(docs map[string]string, v *doc.Value) {
	for _, s := range v.Decl.Specs {
		vs := s.(*ast.ValueSpec)
		text := Comment(vs.Doc, vs.Comment)
		if text == "" {
			text = v.Doc
		}
		for _, n := range vs.Names {
			head := v.Decl.Tok.String() + " " + n.Name
			if vs.Type != nil {
				head += " " + p.print(vs.Type)
			}
			docs[n.Name] = join(head, text)
		}
	}
}

// print formats a node with a fresh file set, because positions would bring back the
// blank lines of the source.
func (p printer) print(n any) string {
	var b bytes.Buffer
	if l, ok := n.(*ast.FieldList); ok { // of one field
		f := l.List[0]
		if sig, ok := f.Type.(*ast.FuncType); ok {
			return f.Names[0].Name + strings.TrimPrefix(p.print(sig), "func")
		}
		return f.Names[0].Name + " " + p.print(f.Type)
	}
	if err := format.Node(&b, p.fset, n); err != nil {
		return err.Error()
	}
	return b.String()
}

func join(head, text string) string {
	return strings.TrimSpace(head + "\n\n" + strings.TrimSpace(text))
}
