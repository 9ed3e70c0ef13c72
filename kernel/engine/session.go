package engine

import (
	"context"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/brief"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/magic"
)

// session is the view of an engine for the magics of a cell. They run while Mu is
// unlocked.
type session struct {
	e    *Engine
	cell *check.Source
}

func (s session) Packages() []string { return s.e.Importer.Packages() }

func (s session) Stopped() <-chan struct{} { return s.e.stop.Channel() }

func (s session) Variables() (vars []magic.Variable) {
	e := s.e
	e.Mu.Lock()
	defer e.Mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.Live)) {
		if v, ok := e.Live[name].(*types.Var); ok {
			vars = append(vars, magic.Variable{Name: name, Type: e.TypeString(v.Type()), Value: brief.Value(e.ValueOf(v))})
		}
	}
	return vars
}

func (s session) Reset() {
	e := s.e
	e.Mu.Lock()
	defer e.Mu.Unlock()
	clear(e.Live)
	clear(e.Decls)
	clear(e.Versions)
	clear(e.Broken)
	clear(e.Lost)
	clear(e.Hidden)
	e.Libraries = nil
	e.nextPrune = 0
}

const (
	maxHistory = 1000 // cells that %history can list
	dropped    = 100  // dropped at once, because the remaining ones are moved
)

// remember keeps a cell that has a number.
func (e *Engine) remember(n int, src string) {
	if n == 0 {
		return
	}
	if len(e.history) == maxHistory+dropped {
		e.history = slices.Delete(e.history, 0, dropped)
	}
	e.history = append(e.history, magic.Cell{Number: n, Source: strings.Clone(src)})
}

func (s session) Past() magic.Past {
	past := s.e.config.Past
	if past != nil && cellproto.CellShell(s.cell.Cell) > 0 {
		return elsewhere{past}
	}
	return past
}

// elsewhere is the past for a subshell: the parent shell's "this session" is that of
// another shell.
type elsewhere struct{ magic.Past }

func (f elsewhere) Range(session, start int, stop *int) ([]magic.Cell, error) {
	if session == 0 {
		return nil, nil
	}
	return f.Past.Range(session, start, stop)
}

// Cells are the cells of the asking shell.
func (s session) Cells() (cells []magic.Cell) {
	s.e.Mu.Lock()
	defer s.e.Mu.Unlock()
	for _, c := range s.e.history[max(0, len(s.e.history)-maxHistory):] {
		if cellproto.CellShell(c.Number) == cellproto.CellShell(s.cell.Cell) {
			cells = append(cells, c)
		}
	}
	return cells
}

func (s session) Replace(text string) { s.cell.Next = text }

func (s session) AddModule(ctx context.Context, path, version string) (lines []string, err error) {
	added, err := s.e.Importer.Modules.Add(ctx, path, version)
	for _, p := range added {
		lines = append(lines, fmt.Sprintf("import %q // %s", p.Path, p.Module))
	}
	return lines, err
}
