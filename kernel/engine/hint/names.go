package hint

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/spelling"
)

// unknown is the remedy for an undeclared name.
func (a *Advice) unknown(name, line string, lines []string) string {
	if answer := otherNames[name]; answer != "" {
		return answer
	}
	if answer := a.hostCode(line); answer != "" && strings.HasPrefix(name, "cu") {
		return answer
	}
	var paths []string
	for _, p := range a.Packages() {
		if packageName(p) == name && strings.Contains(line, name+".") {
			paths = append(paths, fmt.Sprintf("import %q", p))
		}
	}
	switch {
	case len(paths) > 0:
		return strings.Join(paths, ", or ")
	case regexp.MustCompile(`^\s*(?:for\s+)?` + name + `\s*=[^=]`).MatchString(line):
		return fmt.Sprintf("the first assignment declares it: %s := ...", name)
	}
	if near := a.similar(name, lines); near != "" {
		return "nearest: " + near
	}
	if token.IsExported(name) {
		if answer := a.unqualified(name); answer != "" {
			return answer
		}
	}
	return a.Foreign(line)
}

// similar are names of the cell's text, or live ones, that are close to a name, "" if
// none is.
func (a *Advice) similar(name string, lines []string) string {
	names := a.Names()
	for _, m := range declared().FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		names = append(names, cmp.Or(m[1], m[2]))
	}
	return nearNames(name, names)
}

// declared finds most names that a text declares.
var declared = lazyregexp.New(`([\pL_][\pL\pN_]*)\s*:=|\b(?:var|func|const|type)\s+([\pL_][\pL\pN_]*)`)

// nearNames are the names that differ from a name in case, in a letter, or in two
// swapped letters.
func nearNames(name string, names []string) string {
	var near []string
	for _, n := range names {
		if n != name && (strings.EqualFold(n, name) || len(name) > 3 && (spelling.Distance(n, name) == 1 || swapped(n, name))) {
			near = append(near, n)
		}
	}
	slices.Sort(near)
	return strings.Join(slices.Compact(near), ", ")
}

var (
	noObject = lazyregexp.New(`^undefined: ([\pL_][\pL\pN_]*)\.([\pL_][\pL\pN_]*)$`)
	noMember = lazyregexp.New(`\(type \*?([\pL_][\pL\pN_]*)(?:\.([\pL_][\pL\pN_]*))? has no field or method ([\pL_][\pL\pN_]*)\)$`)
)

// member is the likely member for an unknown name after a dot, "" if there is none.
func (a *Advice) member(msg string) string {
	var names []string
	if m := noObject().FindStringSubmatch(msg); m != nil {
		for _, p := range a.PackagesOf(m[1]) {
			names = append(names, p.Scope().Names()...)
		}
		return nearNames(m[2], exported(names))
	}
	m := noMember().FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	if m[2] == "" { // a type of cells
		return nearNames(m[3], membersOf(a.Lookup(m[1])))
	}
	for _, p := range a.PackagesOf(m[1]) {
		names = append(names, membersOf(p.Scope().Lookup(m[2]))...)
	}
	return nearNames(m[3], exported(names))
}

// exported removes unexported names.
func exported(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !token.IsExported(n) })
}

// PackagesOf are the packages that a name stands for, or may stand for.
func (a *Advice) PackagesOf(name string) (list []*types.Package) {
	if o, ok := a.Lookup(name).(*types.PkgName); ok {
		return []*types.Package{o.Imported()}
	}
	return a.packagesByPath(name)
}

// packagesByPath are the packages whose path ends in a name.
func (a *Advice) packagesByPath(name string) (list []*types.Package) {
	for _, path := range a.Linked() { // the cell imports one of these
		if packageName(path) != name {
			continue
		}
		if p, err := a.Import(path); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// membersOf are the methods and fields of a type.
func membersOf(o types.Object) (names []string) {
	t, ok := o.(*types.TypeName)
	if !ok {
		return nil
	}
	var with types.Type = types.NewPointer(t.Type()) // has the methods of both receivers
	if types.IsInterface(t.Type()) {
		with = t.Type()
	}
	for m := range types.NewMethodSet(with).Methods() {
		names = append(names, m.Obj().Name())
	}
	if s, ok := t.Type().Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			names = append(names, f.Name())
		}
	}
	return names
}
