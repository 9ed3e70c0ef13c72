package packages

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goplus/ixgo"

	"warpbook/kernel/engine/docs"
	"warpbook/kernel/engine/module"
	"warpbook/kernel/engine/rewrite"
)

// moduleTags select files without assembly if a package offers both.
var moduleTags = []string{"purego", "noasm"}

// Importer offers the packages of the program and of added modules, and rejects others
// with the nearest name or the reason.
type Importer struct {
	types.Importer
	Modules *module.Set
	docs    map[string]map[string]string // of packages of modules, by their folders
}

// NewImporter makes the engine library find the sources of added modules.
func NewImporter(ctx *ixgo.Context) Importer {
	i := Importer{ctx.Importer, &module.Set{Offered: linked, Tags: moduleTags}, map[string]map[string]string{}}
	ctx.BuildContext.BuildTags, ctx.BuildContext.CgoEnabled = moduleTags, false
	ctx.BuildContext.OpenFile = openModuleFile
	ctx.Lookup = func(_, path string) (dir string, found bool) { // the library would ask a Go toolchain
		p, err := i.Modules.Find(path)
		if p == nil || err != nil {
			return "", false
		}
		return p.Dir, true
	}
	ctx.Importer = i // what the packages of modules import, too: a package that fails there is refused from then on
	return i
}

// openModuleFile opens a file of a package, and inserts the values of variables that embed
// files, and the deferred calls that the engine needs (see enter) where its functions begin.
// Positions in the file do not change, but for the line of the package clause.
func openModuleFile(path string) (io.ReadCloser, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(deferring(embedding(path, text)))), nil
}

// deferring inserts a deferred call of an empty function at the start of each function
// that defers calls.
func deferring(text []byte) []byte {
	if !bytes.Contains(text, []byte("defer")) {
		return text
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil { // the engine reports the error
		return text
	}
	var out bytes.Buffer
	done := 0
	ast.Inspect(file, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil && rewrite.Defers(n.Body) {
				body = n.Body
			}
		case *ast.FuncLit:
			if rewrite.DefersInRange(n.Body) {
				body = n.Body
			}
		}
		if body != nil {
			p := fset.PositionFor(body.Lbrace+1, false)
			out.Write(text[done:p.Offset])
			fmt.Fprintf(&out, " defer func() {}(); /*line :%d:%d*/", p.Line, p.Column)
			done = p.Offset
		}
		return true
	})
	out.Write(text[done:])
	return out.Bytes()
}

// Offered reports whether the engine's own file of a cell can import a package: those
// that cells can, and the package of the calls that rewriting puts in.
func Offered(path string) bool { return linked(path) || path == rewrite.RuntimePath }

func linked(path string) bool {
	_, ok := ixgo.LookupPackage(path)
	return ok || path == "unsafe"
}

func (i Importer) Import(path string) (*types.Package, error) {
	if Offered(path) {
		return i.Importer.Import(path)
	}
	p, err := i.Modules.Find(path)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, NotOffered(path)
	}
	pkg, err := i.Importer.Import(path)
	if err != nil { // the engine library takes the package for correct the next time
		i.Modules.Refuse(path, fmt.Sprintf("does not compile: %v", err))
		return nil, err
	}
	return pkg, nil
}

// Packages are the paths that cells can import.
func (i Importer) Packages() []string {
	list := append(Linked(), i.Modules.Paths()...)
	slices.Sort(list)
	return list
}

// Doc is the declaration and the comment of an object of an added module, "" if there is
// none; see docs.Of.
func (i Importer) Doc(path, name string) string { return i.docsOf(path)[name] }

// Named returns the documentation of the packages of added modules that have a name, by their
// paths.
func (i Importer) Named(name string) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, path := range i.Modules.Paths() {
		if texts := i.docsOf(path); strings.HasPrefix(texts[""], "package "+name+" ") {
			found[path] = texts
		}
	}
	return found
}

// docsOf are the texts of a package of an added module.
func (i Importer) docsOf(path string) map[string]string {
	p, err := i.Modules.Find(path)
	if p == nil || err != nil {
		return nil
	}
	texts, read := i.docs[p.Dir]
	if !read {
		texts, _ = docs.OfSource(path, p.Dir, moduleTags) // sources that cannot be read are reported by their import
		i.docs[p.Dir] = texts
	}
	return texts
}
