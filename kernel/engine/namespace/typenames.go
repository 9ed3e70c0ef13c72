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

// unitName is a type's name with the unit that it is of.
var unitName = lazyregexp.New(`main·(\d+)\.([\pL_][\pL\pN_]*)`)

// TypeString names a type as a cell does; one whose name means another type
// by now has the number of its cell behind it.
func (e *Namespace) TypeString(t types.Type) string { return e.Named(types.TypeString(t, e.Qualify)) }

// Qualify tells the units of cells apart, for named.
func (e *Namespace) Qualify(p *types.Package) string {
	if u := e.Graph.Units[p]; u != nil && !u.Imported {
		return u.Path
	}
	return qualifier(p)
}

// Named takes out the units again.
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
