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
	if len(c.anew) == 0 {
		return false
	}
	own := e.own(c)
	need := func(name string) bool { return c.anew[name] && !own[name] }
	return e.carry(c, own, e.Decls, func(d *namespace.Declaration) bool { return need(d.Name) || need(d.Base) })
}

// carry adds the declarations of a list that want selects and that the cell does not
// replace itself.
func (e *Checker) carry(c *Cell, own map[string]bool, list map[string]*namespace.Declaration, want func(*namespace.Declaration) bool) bool {
	n := len(c.Source.Carry)
	for _, d := range list {
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
	if len(changed) == 0 && len(e.Lost) == 0 {
		return false
	}
	own, imported := e.own(c), e.importedNames(c)
	for _, name := range h.names {
		own[name] = true
	}
	noType := func(base string) bool { return base != "" && (imported[base] || slices.Contains(h.names, base)) } // the name is that of a package or a variable now
	more := e.revive(c, own, changed, noType)
	if len(changed) == 0 {
		return false
	}
	more = e.move(c, h, changed) || more
	for again := true; again; {
		again = e.carry(c, own, e.Decls, func(d *namespace.Declaration) bool {
			if d.Base != "" && own[d.Base] && e.Decls[d.Base] != nil && d.Serial == e.Decls[d.Base].Serial {
				return false // declared with the type; its new declaration omits it
			}
			if noType(d.Base) {
				return false
			}
			if !changed[d.Base] && !intersect(d.Uses, changed) && !(d.Base == "" && changed[d.Name]) {
				return false
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

// revive carries the lost declarations that refer to a name which the cell declares or
// changes: the cell may mend them. One that does not compile stays lost, and so does a method
// whose type has a name that is no type's.
func (e *Checker) revive(c *Cell, own, changed map[string]bool, noType func(base string) bool) (more bool) {
	for again := true; again; more = more || again {
		again = e.carry(c, own, e.Lost, func(d *namespace.Declaration) bool {
			if noType(d.Base) || !intersect(d.Uses, own) && !intersect(d.Uses, changed) {
				return false
			}
			for _, n := range d.Names {
				changed[n] = true
			}
			return true
		})
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
				c.Source.Carry = slices.DeleteFunc(c.Source.Carry, func(y *namespace.Declaration) bool { return y == x })
				if e.Lost[x.Name] == x {
					continue
				}
				if x.Base != "" { // its type loses the method
					c.anew[x.Base] = true
				}
				for _, name := range x.Names { // for error messages
					namespace.Set(j, e.Broken, name, fmt.Sprintf("%s of %s no longer compiles since %s: %s", name, cellproto.CellName(x.Cell), cellproto.CellName(c.Cell), d))
				}
			}
		}
	}
	return len(c.Broken) > n
}
