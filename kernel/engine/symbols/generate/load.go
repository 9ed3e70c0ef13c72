package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// source is one package, type-checked and with its comments.
type source struct {
	types *types.Package
	deps  []*types.Package // that its types may name, by path
	fset  *token.FileSet
	doc   *doc.Package
}

// listed is the go command's description of a package.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // file of the compiled package's types
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
	Standard   bool
}

// load makes the go command compile the packages, and reads the types from the compiled
// packages and the comments from their source.
func load(paths []string) ([]*source, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Imports,Standard"}, paths...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("generate: go list: %w\n%s", err, stderr.Bytes())
	}
	all := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("generate: go list: %w", err)
		}
		all[l.ImportPath] = l
	}
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	var sources []*source
	for _, path := range paths {
		s, err := read(fset, imp, path, all)
		if err != nil {
			return nil, fmt.Errorf("generate: %s: %w", path, err)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func read(fset *token.FileSet, imp types.Importer, path string, all map[string]listed) (*source, error) {
	l := all[path]
	pkg, err := imp.Import(l.ImportPath)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, l.ImportPath)
	return &source{pkg, deps(pkg, l, all), fset, d}, err
}

// deps omits imports within the standard library, which differ between Go releases.
func deps(pkg *types.Package, l listed, all map[string]listed) []*types.Package {
	d := slices.DeleteFunc(slices.Clone(pkg.Imports()), func(p *types.Package) bool {
		return all[p.Path()].Standard && !slices.Contains(l.Imports, p.Path())
	})
	slices.SortFunc(d, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return d
}
