package engine

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/leaf/lazyregexp"
)

// oldName is the name of a type, as typeString gives it, whose name means another type
// now.
var oldName = lazyregexp.New(`([\pL_][\pL\pN_]*)·\d+(?:-\d+)?`)

// changedTypes are the live types that the cell gives another meaning: it declares them again,
// or they are compiled again because it changes their methods or their parts.
func changedTypes(c *check.Cell, live map[string]types.Object) map[string]bool {
	list := c.CarriedTypes()
	for _, name := range c.Pkg.Scope().Names() {
		now, is := c.Pkg.Scope().Lookup(name).(*types.TypeName)
		if was, lives := live[name].(*types.TypeName); is && lives && now != was {
			list[name] = true
		}
	}
	return list
}

// varTypes are the types of the live variables and of the values in them, by name, if the
// cell changes types; warnOfOld uses them.
func (e *Engine) varTypes(changed map[string]bool) map[string][]string {
	if len(changed) == 0 {
		return nil
	}
	list := map[string][]string{}
	for name, o := range e.Live {
		if v, ok := o.(*types.Var); ok {
			list[name] = e.typesOf(v)
		}
	}
	return list
}

// typesOf are the type of a variable and those of the values that it holds.
func (e *Engine) typesOf(v *types.Var) []string {
	list := []string{e.TypeString(v.Type())}
	if x := e.ValueOf(v); x.IsValid() {
		list = append(list, e.heldTypes(x)...)
	}
	return list
}

// mostOld is how many variables with old values are described.
const mostOld = 20

// warnOfOld names the variables whose type, or that of a value in them, the cell changes:
// assertions of such values fail, and maps do not find them.
func (e *Engine) warnOfOld(c *check.Cell, changed map[string]bool, before map[string][]string) {
	var more []string
	assigned, n := c.Assigned(), 0
	for _, name := range slices.Sorted(maps.Keys(before)) {
		v, ok := e.Live[name].(*types.Var)
		if !ok || assigned[name] {
			continue
		}
		keeps, typ := oldType(e.typesOf(v), changed, before[name])
		switch {
		case keeps == "":
		case n == mostOld:
			more = append(more, name)
		default:
			n++
			fmt.Fprintf(e.stderr, "warning: %s keeps %s: %s changed %s; run the cell that makes %s again\n", name, keeps, cellproto.CellName(c.Cell), typ, name)
		}
	}
	if len(more) > 0 {
		fmt.Fprintf(e.stderr, "warning: more variables keep old values: %s\n", strings.Join(more, ", "))
	}
}

// oldType tells which changed type a variable or a value in it has, and its name, if it had
// none before. The types are those of typesOf.
func oldType(typesOf []string, changed map[string]bool, before []string) (keeps, typ string) {
	keeps = "the type"
	for _, t := range typesOf {
		t = strings.ReplaceAll(t, "main.", "")
		for _, m := range oldName().FindAllStringSubmatch(t, -1) {
			if changed[m[1]] && !slices.ContainsFunc(before, func(had string) bool { return strings.Contains(had, m[0]) }) {
				return keeps + " " + t, m[1]
			}
		}
		keeps = "a value of the type"
	}
	return "", ""
}
