package corpus

import (
	"go/ast"
	"path"
	"strconv"
	"strings"

	"warpbook/kernel/cells/corpus/twin"
)

// A declaration is a top-level declaration of a test file.
type declaration struct {
	file testFile
	node ast.Decl
}

// needed are the declarations of the package's other files that a file uses, and those
// that they use: a text for each file.
func needed(f testFile, files []testFile) (texts []string) {
	byName := declarations(files, f)
	want := map[ast.Decl]bool{}
	var add func(name string)
	add = func(name string) {
		for _, d := range byName[name] {
			if !want[d.node] {
				want[d.node] = true
				for used := range namesIn(d.node) {
					add(used)
				}
			}
		}
	}
	for _, id := range f.Unresolved {
		add(id.Name)
	}
	for _, other := range files {
		if text := other.chosen(want); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// declarations are the top-level declarations of all files but one, by the names that they
// declare; a method is found by the name of its type.
func declarations(files []testFile, but testFile) map[string][]declaration {
	byName := map[string][]declaration{}
	for _, f := range files {
		if f.File == but.File {
			continue
		}
		for _, d := range f.Decls {
			for _, name := range twin.Declared(d) {
				byName[name] = append(byName[name], declaration{f, d})
			}
		}
	}
	return byName
}

// namesIn are the identifiers in a node.
func namesIn(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	return names
}

// chosen are some declarations of a file, with the imports that they use.
func (f testFile) chosen(want map[ast.Decl]bool) string {
	var body strings.Builder
	used := map[string]bool{}
	for _, d := range f.Decls {
		if want[d] {
			body.WriteString(f.cut(d.Pos(), d.End()) + "\n")
			for name := range namesIn(d) {
				used[name] = true
			}
		}
	}
	if body.Len() == 0 {
		return ""
	}
	var imports strings.Builder
	for _, s := range f.Imports {
		if name := importName(s); used[name] || name == "." {
			imports.WriteString("import " + f.cut(s.Pos(), s.End()) + "\n")
		}
	}
	return imports.String() + body.String()
}

// importName is the name by which a file refers to an imported package, as far as the
// path tells.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	p, _ := strconv.Unquote(s.Path.Value)
	return path.Base(p)
}
