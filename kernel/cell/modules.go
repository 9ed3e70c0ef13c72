package cell

import (
	"context"
	"fmt"
	"go/types"
	"slices"

	"github.com/goplus/ixgo"

	"warpbook/kernel/cell/module"
)

// moduleTags choose files without assembly where a package offers both.
var moduleTags = []string{"purego", "noasm"}

// importer offers the packages of the program and of added modules, and refuses
// others with a message that helps.
type importer struct {
	types.Importer
	modules *module.Set
}

// newImporter makes the engine library find the sources of added modules.
func newImporter(ctx *ixgo.Context) importer {
	i := importer{ctx.Importer, &module.Set{Offered: offered, Tags: moduleTags}}
	ctx.BuildContext.BuildTags, ctx.BuildContext.CgoEnabled = moduleTags, false
	ctx.Lookup = func(_, path string) (dir string, found bool) { // it would ask a Go toolchain
		p, err := i.modules.Find(path)
		if p == nil || err != nil {
			return "", false
		}
		return p.Dir, true
	}
	return i
}

func offered(path string) bool {
	_, ok := ixgo.LookupPackage(path)
	return ok || path == runtimePath || path == "unsafe"
}

func (i importer) Import(path string) (*types.Package, error) {
	if offered(path) {
		return i.Importer.Import(path)
	}
	p, err := i.modules.Find(path)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, notOffered(path)
	}
	pkg, err := i.Importer.Import(path)
	if err != nil { // the engine library takes it for right the next time
		i.modules.Refuse(path, fmt.Sprintf("does not compile: %v", err))
		return nil, err
	}
	return pkg, nil
}

// packages are the paths that cells can import.
func (e *Engine) packages() []string {
	list := append(Packages(), e.importer.modules.Paths()...)
	slices.Sort(list)
	return list
}

func (s session) AddModule(ctx context.Context, path, version string) (lines []string, err error) {
	added, err := s.e.importer.modules.Add(ctx, path, version)
	for _, p := range added {
		lines = append(lines, fmt.Sprintf("import %q // %s", p.Path, p.Module))
	}
	return lines, err
}

// Close removes what the session has written.
func (e *Engine) Close() error { return e.importer.modules.Close() }
