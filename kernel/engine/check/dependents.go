package check

import (
	"fmt"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/namespace"
)

// carryReceivers carries the types that the cell adds methods to: only a type's own
// package can add methods.
func (e *Checker) carryReceivers(c *Cell) bool {
	own, need := e.own(c), c.anew
	if len(need) == 0 {
		return false
	}
	return e.carry(c, own, func(d *namespace.Declaration) bool { return need[d.Name] || need[d.Base] })
}

// carry adds the live declarations that want selects and that the cell does not replace
// itself.
func (e *Checker) carry(c *Cell, own map[string]bool, want func(*namespace.Declaration) bool) bool {
	n := len(c.Source.Carry)
	for _, d := range e.Decls {
		_, broken := c.Broken[d]
		replaced := slices.ContainsFunc(d.Names, func(n string) bool { return own[n] })
		if !broken && !replaced && !slices.Contains(c.Source.Carry, d) && want(d) {
			c.Source.Carry = append(c.Source.Carry, d)
		}
	}
	slices.SortFunc(c.Source.Carry[n:], func(a, b *namespace.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return len(c.Source.Carry) > n
}

// carryMore carries the declarations that refer to a name whose meaning the cell
// changes.
func (e *Checker) carryMore(c *Cell, h *hoist) bool {
	changed := e.changed(c, h)
	if len(changed) == 0 {
		return false
	}
	more := e.move(c, h, changed)
	own := e.own(c)
	for _, name := range h.names {
		own[name] = true
	}
	for again := true; again; {
		again = e.carry(c, own, func(d *namespace.Declaration) bool {
			if d.Base != "" && own[d.Base] && e.Decls[d.Base] != nil && d.Serial == e.Decls[d.Base].Serial {
				return false // declared with the type; its new declaration omits it
			}
			if !changed[d.Base] && !intersect(d.Uses, changed) && !(d.Base == "" && changed[d.Name]) {
				return false
			}
			if d.Base != "" {
				changed[d.Base] = true // a method is compiled with its type
			}
			for _, n := range d.Names {
				changed[n] = true
			}
			return true
		})
		more = more || again
	}
	return more
}

func intersect(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// changed are the live names whose meaning this cell changes.
func (e *Checker) changed(c *Cell, h *hoist) map[string]bool {
	changed := map[string]bool{}
	for d := range c.Broken {
		for _, n := range d.Names {
			changed[n] = true
		}
	}
	for name := range e.Names(c.File) {
		if old := e.Live[name]; old != nil && !Same(old, h.Pkg.Scope().Lookup(name)) {
			changed[name] = true
		}
	}
	for _, name := range h.names {
		if e.Live[name] != nil && !e.Keeps(name, h.types[name]) {
			changed[name] = true
		}
	}
	return changed
}

// breaks drops the carried declarations that no longer compile.
func (e *Checker) breaks(j *namespace.Journal, c *Cell, diags []failure.Diagnostic) bool {
	n := len(c.Broken)
	for _, d := range diags {
		decl := c.Carried(d.Pos)
		if decl == nil {
			continue
		}
		for _, x := range slices.Clone(c.Source.Carry) {
			if x == decl || x.Base == decl.Name {
				c.Broken[x] = d
				for _, name := range x.Names { // for error messages
					namespace.Set(j, e.Broken, name, fmt.Sprintf("%s of %s no longer compiles since %s: %s", name, cellproto.CellName(x.Cell), cellproto.CellName(c.Cell), d))
				}
				c.Source.Carry = slices.DeleteFunc(c.Source.Carry, func(y *namespace.Declaration) bool { return y == x })
			}
		}
	}
	return len(c.Broken) > n
}
