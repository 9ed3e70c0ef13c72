package kernel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mostFiles   = 6  // of a package that need each other, unless ceilings has it
	mostMethods = 50 // of the engine's own type
)

// ceilings are the numbers of files that need each other in packages with more than
// mostFiles. A number may only fall: cut a package rather than raise it.
var ceilings = map[string]int{
	"gpu":                    8,
	"gpu/compile":            18,
	"gpu/cuda":               18,
	"gpu/cuda/worker":        9,
	"gpu/emu":                8,
	"gpu/emu/engine":         21,
	"gpu/emu/programs":       15,
	"gpu/gputest":            10,
	"gpu/llvm/lower":         22,
	"gpu/ptx":                13,
	"kernel/debug":           8,
	"kernel/display":         22,
	"kernel/engine/bytecode": 9,
	"kernel/report":          8,
	"kernel/server":          23,
	"kernel/warpbook":        11,
	"ops/bench":              7,
	"ops/conv2d":             16,
	"ops/gemm":               11,
	"ops/ladder":             9,
}

// TestFilesThatNeedEachOther: in each package of the module, at most so many files need each
// other as its ceiling says, or six; and Engine has fewer than 50 methods.
func TestFilesThatNeedEachOther(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); len(name) > 2 && name[0] == '.' || slices.Contains([]string{"symbols", "testdata", "edited", "node_modules"}, name) {
			return filepath.SkipDir
		}
		p := readPackage(t, dir)
		if len(p.files) == 0 {
			return nil
		}
		path, err := filepath.Rel("..", dir)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		seen[path] = true
		group := p.components()[0]
		ceiling, listed := ceilings[path]
		if !listed {
			ceiling = mostFiles
		}
		switch {
		case len(group) > ceiling:
			t.Errorf("%s: %d files need each other, expected at most %d: %v", path, len(group), ceiling, group)
			for _, from := range group {
				for to, names := range p.uses[from] {
					if slices.Contains(group, to) {
						t.Logf("  %s uses of %s: %s", from, to, strings.Join(names, " "))
					}
				}
			}
		case listed && len(group) < ceiling:
			t.Errorf("%s: only %d files need each other: lower its ceiling of %d", path, len(group), ceiling)
		case listed:
			t.Logf("%s: %d files, %d of which need each other", path, len(p.files), len(group))
		}
		if path == "kernel/engine" {
			if n := p.methods["Engine"]; n == 0 || n >= mostMethods {
				t.Errorf("Engine has %d methods, expected fewer than %d", n, mostMethods)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range ceilings {
		if !seen[path] {
			t.Errorf("%s has a ceiling, and is no package", path)
		}
	}
	if len(seen) < 150 {
		t.Errorf("%d packages, expected those of the whole module", len(seen))
	}
}

// folder is the package of a folder: its files without tests, and which
// declarations of other files each uses.
type folder struct {
	files   []string
	uses    map[string]map[string][]string // from, to, names
	methods map[string]int                 // by type
}

// absent imports packages as empty ones. The declarations of one package are found
// without the others: what an expression of another package's type selects is of no
// file here.
type absent struct{}

func (absent) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	p.MarkComplete()
	return p, nil
}

// readPackage checks the files of a folder, those with the build tag edited included.
func readPackage(t *testing.T, dir string) *folder {
	t.Helper()
	fset, p := token.NewFileSet(), &folder{uses: map[string]map[string][]string{}, methods: map[string]int{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "unedited.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		p.files = append(p.files, filepath.Base(path))
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: absent{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, parsed, info) // the names of other packages are unknown, which is an error each
	file := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	for id, o := range info.Uses {
		if from, to := file(id.Pos()), file(o.Pos()); o.Pkg() == pkg && from != to {
			if p.uses[from] == nil {
				p.uses[from] = map[string][]string{}
			}
			if !slices.Contains(p.uses[from][to], o.Name()) {
				p.uses[from][to] = append(p.uses[from][to], o.Name())
			}
		}
	}
	for _, name := range pkg.Scope().Names() {
		if tn, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok {
			if n, ok := tn.Type().(*types.Named); ok {
				p.methods[name] = n.NumMethods()
			}
		}
	}
	return p
}

// components are the groups of files that need each other, directly or through
// others, the largest first: Tarjan's strongly connected components.
func (p *folder) components() (groups [][]string) {
	index, low, stack := map[string]int{}, map[string]int{}, []string(nil)
	var visit func(string)
	visit = func(f string) {
		index[f] = len(index) + 1
		low[f] = index[f]
		stack = append(stack, f)
		for to := range p.uses[f] {
			if index[to] == 0 {
				visit(to)
				low[f] = min(low[f], low[to])
			} else if slices.Contains(stack, to) {
				low[f] = min(low[f], index[to])
			}
		}
		if low[f] == index[f] {
			at := slices.Index(stack, f)
			group := slices.Clone(stack[at:])
			slices.Sort(group)
			groups, stack = append(groups, group), stack[:at]
		}
	}
	for _, f := range p.files {
		if index[f] == 0 {
			visit(f)
		}
	}
	slices.SortStableFunc(groups, func(a, b []string) int { return len(b) - len(a) })
	return groups
}
