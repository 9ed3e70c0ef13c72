//go:build ignore

package ixgo

import (
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// met reports whether a package is known only because a type of it was met in
// another package: it must still be installed.
func (r *TypesLoader) met(p *types.Package) bool {
	path := p.Path()
	_, registered := registerPkgs[path]
	_, source := r.pkgloads[path]
	return registered && !source && !p.Complete() && r.installed[path] == nil
}

// begin returns the package that is to be installed: the one whose types were met
// before, if there is one, so that there are no two of a path.
func (r *TypesLoader) begin(pkg *Package) *types.Package {
	p := r.packages[pkg.Path]
	if p == nil {
		p = types.NewPackage(pkg.Path, pkg.Name)
	}
	p.SetName(pkg.Name)
	r.installed[pkg.Path] = pkg
	return p
}

// insertNamed makes the type that a package offers by a name. The type's own name
// differs if the package's is an alias.
func (r *TypesLoader) insertNamed(p *types.Package, name string, rt reflect.Type) {
	t := r.ToType(rt)
	if p.Scope().Lookup(name) == nil {
		p.Scope().Insert(types.NewTypeName(token.NoPos, p, name, t))
	}
}

// NameOf is the name of a package, as far as its path tells, until it is imported.
func NameOf(path string) string {
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if version := strings.TrimLeft(name, "0123456789v"); version == "" && len(parts) > 1 {
		return parts[len(parts)-2]
	}
	return name
}
