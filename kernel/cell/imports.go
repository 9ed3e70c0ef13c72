package cell

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/goplus/ixgo"
)

// imports are the objects that the cell's imports add to later cells: package
// names, and for an import with a dot what the package exports.
func (c *checked) imports() map[string]types.Object {
	objs := map[string]types.Object{}
	for _, s := range c.file.Imports {
		var o types.Object
		if s.Name != nil {
			o = c.info.Defs[s.Name]
		} else {
			o = c.info.Implicits[s]
		}
		switch {
		case importPath(s) == runtimePath || o != nil && o.Name() == compileName || s.Name != nil && s.Name.Name == "_":
		case s.Name != nil && s.Name.Name == ".":
			c.dotImport(s, objs)
		case o != nil:
			objs[o.Name()] = o
		}
	}
	return objs
}

func (c *checked) dotImport(s *ast.ImportSpec, objs map[string]types.Object) {
	for _, p := range c.pkg.Imports() {
		if p.Path() != importPath(s) {
			continue
		}
		for _, name := range p.Scope().Names() {
			if token.IsExported(name) {
				objs[name] = p.Scope().Lookup(name)
			}
		}
	}
}

// Packages are the paths that cells can import.
func Packages() []string {
	return slices.DeleteFunc(ixgo.PackageList(), func(p string) bool {
		return slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return part == "internal" }) ||
			strings.HasPrefix(p, "github.com/goplus/")
	})
}

// notOffered is the error for a package that cells cannot import.
func notOffered(path string) error {
	if path == "C" {
		return errors.New("cgo does not run in cells: make the C code a program, and start it with os/exec")
	}
	msg := fmt.Sprintf("package %s is not offered to cells", path)
	if near := nearest(path, Packages()); len(near) > 0 {
		msg += "; nearest: " + strings.Join(near, ", ")
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return fmt.Errorf("%s; %%pkg %s adds it", msg, path)
	}
	return fmt.Errorf("%s; Tab in the path of an import lists those that are", msg)
}

// nearest are the few paths that may be meant by another: they, or the names that
// they end in, are written nearly like it.
func nearest(path string, all []string) []string {
	name := packageName(path)
	near := slices.DeleteFunc(all, func(p string) bool {
		return distance(path, p) > 1+len(path)/4 && distance(name, packageName(p)) > len(name)/4
	})
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(path, a), distance(path, b)) })
	return near[:min(3, len(near))]
}

// distance is the number of letters to insert, delete or change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			up := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(diag+cost, up+1, row[j]+1)
			diag = up
		}
	}
	return row[len(b)]
}
