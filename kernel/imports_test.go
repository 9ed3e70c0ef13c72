// Package kernel holds tests of the whole tree: which packages may import which, and
// which declarations answer common questions.
package kernel

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "warpbook/"

// leaf are the packages that both kernel and gpu may import.
const leaf = "warpbook/kernel/leaf"

// mayKnowGPU are the packages of kernel that may import gpu and ops: the cells
// program and what only it links, and the command.
var mayKnowGPU = []string{"warpbook/kernel/cells", "warpbook/kernel/cells/gpumagic", "warpbook/kernel/engine/symbols", "warpbook/kernel/warpbook"}

// packages returns the imports of each package of the module, by path. It reads the
// files itself, whatever their build tags: the go command would leave out those of
// other tags, and the cache of tests would not see that a file has changed.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && len(name) > 2 && (name[0] == '.' || name == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := module + filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator)))
		for _, s := range f.Imports {
			if to := strings.Trim(s.Path.Value, "\""); !slices.Contains(all[from], to) {
				all[from] = append(all[from], to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reached are the packages that a package needs, through others too.
func reached(all map[string][]string, from string, seen map[string]bool) map[string]bool {
	for _, to := range all[from] {
		if !seen[to] {
			seen[to] = true
			reached(all, to, seen)
		}
	}
	return seen
}

// within reports whether a package is a folder or lies in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// forbidden is the rule that an import breaks, "" if it breaks none.
func forbidden(from, to string) string {
	gpuOrOps := within(to, "warpbook/gpu") || within(to, "warpbook/ops")
	switch {
	case within(from, leaf):
		if first, _, _ := strings.Cut(to, "/"); strings.Contains(first, ".") && !within(to, "golang.org/x/sys") || strings.HasPrefix(to, module) && !within(to, leaf) {
			return "kernel/leaf needs only the standard library and golang.org/x/sys"
		}
	case within(from, "warpbook/gpu"):
		if within(to, "warpbook/kernel") && !within(to, leaf) {
			return "gpu imports of kernel only kernel/leaf"
		}
		if within(to, "warpbook/ops") {
			return "gpu knows no operators"
		}
		if to == "warpbook/gpu/emu/engine" && from != "warpbook/gpu/emu" && from != "warpbook/gpu/inspect" {
			return "only the device of the emulator and gpu/inspect use its engine"
		}
	case within(from, "warpbook/ops"):
		if within(to, "warpbook/kernel") && !within(to, leaf) {
			return "ops imports of kernel only kernel/leaf"
		}
	case within(from, "warpbook/kernel"):
		if gpuOrOps && !slices.Contains(mayKnowGPU, from) {
			return "of kernel, only the cells program and the command know gpu and ops"
		}
	}
	if (to == "gorgonia.org/cu" || to == "C") && !within(from, "warpbook/gpu/cuda/worker") {
		return "only gpu/cuda/worker uses cgo and gorgonia.org/cu"
	}
	return ""
}

// TestImports holds the rules of imports for the whole module.
func TestImports(t *testing.T) {
	all, n := packages(t), 0
	for from, imports := range all {
		for _, to := range imports {
			n++
			if rule := forbidden(from, to); rule != "" {
				t.Errorf("%s imports %s: %s", from, to, rule)
			}
		}
		if !within(from, "warpbook/kernel") || slices.Contains(mayKnowGPU, from) {
			continue
		}
		for to := range reached(all, from, map[string]bool{}) {
			if within(to, "warpbook/gpu") || within(to, "warpbook/ops") {
				t.Errorf("%s links %s through others: %s", from, to, forbidden(from, to))
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d imports, expected those of the whole module", n)
	}
}
