package namespace

import (
	"go/types"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/lazyregexp"
)

// qualifier names types as a cell does.
func qualifier(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// unitName is a type's name with its unit.
var unitName = lazyregexp.New(`main·(\d+)\.([\pL_][\pL\pN_]*)`)

// TypeString names a type as a cell does. If its name means another type now, the number
// of its cell follows.
func (e *Namespace) TypeString(t types.Type) string { return e.Named(types.TypeString(t, e.Qualify)) }

// Qualify adds the units of cells to type names, for Named.
func (e *Namespace) Qualify(p *types.Package) string {
	if u := e.Graph.Units[p]; u != nil && !u.Imported {
		return u.Path
	}
	return qualifier(p)
}

// Named removes the units.
func (e *Namespace) Named(text string) string {
	return unitName().ReplaceAllStringFunc(text, func(full string) string {
		m := unitName().FindStringSubmatch(full)
		for p, u := range e.Graph.Units {
			if u.Path != "main·"+m[1] {
				continue
			}
			if o, ok := e.Live[m[2]].(*types.TypeName); ok && (o.Pkg() != p || e.Declaring[m[2]]) {
				return m[2] + "·" + cellproto.CellMark(u.Cell)
			}
		}
		return m[2]
	})
}
