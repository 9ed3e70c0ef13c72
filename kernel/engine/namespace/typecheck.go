package namespace

import (
	"go/ast"
	"go/token"
	"go/types"
	"runtime"

	"warpbook/kernel/engine/graph"
	"warpbook/kernel/engine/packages"

	"github.com/goplus/ixgo"
)

// TypeCheck checks a file in a scope and collects all errors.
func (e *Files) TypeCheck(s Scope, file *ast.File) (*types.Info, []types.Error) {
	var errs []types.Error
	info := graph.NewInfo()
	conf := &types.Config{
		Sizes: types.SizesFor("gc", runtime.GOARCH), Importer: &inserter{e.Importer, func() { s.fill(info.Scopes[file]) }}, DisableUnusedImportCheck: true,
		Error: func(err error) {
			if te, ok := err.(types.Error); ok {
				errs = append(errs, te)
			}
		},
	}
	e.Ctx.SetEvalMode(true) // libraries kept as source may have unused imports
	defer e.Ctx.SetEvalMode(false)
	defer s.adopt()()
	types.NewChecker(conf, e.Ctx.FileSet, s.Pkg, info).Files([]*ast.File{file})
	return info, errs
}

// Forget drops the file set's data of a file that is parsed again.
func (e *Files) Forget(f *ast.File) {
	if file := e.Ctx.FileSet.File(f.FileStart); file != nil {
		e.Ctx.FileSet.RemoveFile(file)
	}
}

// Scope is the package that a file is checked in, and the live objects that the file
// sees. The checker finds them in the scope of the file, with dot-imported objects: it
// assumes that each object in the scope of a package has a declaration there, and
// resolves receivers and chains of types by it. It compares packages by path, so that
// unexported fields and methods of earlier cells stay accessible.
type Scope struct {
	Pkg  *types.Package
	live []types.Object
}

// Add adds a live object, if there is one.
func (s *Scope) Add(o types.Object) {
	if p, ok := o.(*types.PkgName); ok {
		o = types.NewPkgName(token.NoPos, s.Pkg, p.Name(), p.Imported())
	}
	if o != nil {
		s.live = append(s.live, o)
	}
}

// fill inserts the live objects into the scope of the file.
func (s Scope) fill(file *types.Scope) {
	for _, o := range s.live {
		file.Insert(o)
	}
}

// inserter is an importer that calls fill before the first import. At that time the
// checker has made the scope of the file and has resolved no name in it. Each file that
// sees live objects imports a package first, see assemble.
type inserter struct {
	packages.Importer
	fill func()
}

func (i *inserter) Import(path string) (*types.Package, error) {
	if i.fill != nil {
		i.fill()
		i.fill = nil
	}
	return i.Importer.Import(path)
}

// Files parses and checks files for cells.
type Files struct {
	Ctx      *ixgo.Context
	Importer packages.Importer
}
