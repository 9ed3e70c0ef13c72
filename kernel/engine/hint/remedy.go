package hint

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// assignment is the remedy for an assignment that the checker rejects, "" if the message
// is about none.
func assignment(msg, line string) string {
	switch {
	case noFraction().MatchString(msg) && changesBy().MatchString(line):
		name := changesBy().FindStringSubmatch(line)[1]
		return fmt.Sprintf("%s is a whole number: declare it with a point, %s := 1.0, or as a float64", name, name)
	case fieldInMap().MatchString(msg):
		return "the map holds a copy: v := m[key]; v.field = ...; m[key] = v, or make it a map of pointers"
	case letter().MatchString(msg):
		return "a string does not change: b := []byte(s) does, and string(b) makes a string of it"
	case noVariable().MatchString(msg):
		return "a constant or a function keeps what it is: only variables are assigned to"
	case unusedVariable().MatchString(msg):
		name := unusedVariable().FindStringSubmatch(msg)[1]
		return fmt.Sprintf("_ = %s keeps it for now", name)
	}
	return ""
}

var (
	noFraction     = lazyregexp.New(`\(untyped float constant.*\) (?:truncated to u?int|as u?int\w* value in assignment \(truncated\))`)
	changesBy      = lazyregexp.New(`^\s*([\pL_][\pL\pN_]*)\s*[-+*/]?=[^=]`)
	fieldInMap     = lazyregexp.New(`^cannot assign to struct field .* in map$`)
	letter         = lazyregexp.New(`^cannot assign to (?:[\pL_][\pL\pN_.]*|".*")\[.*\] \(neither addressable nor a map index expression\)$`)
	noVariable     = lazyregexp.New(`^cannot assign to [\pL_][\pL\pN_]* \(neither addressable nor a map index expression\)$`)
	unusedVariable = lazyregexp.New(`^declared and not used: ([\pL_][\pL\pN_]*)$`)
	hiddenPackage  = lazyregexp.New(`^([\pL_][\pL\pN_]*)\.([\pL_][\pL\pN_]*) undefined \(type (.*) has no field or method`)
	textAsConstant = lazyregexp.New(`^cannot use "([\pL\pN]+)" \(untyped string constant\) as ([\pL_][\pL\pN_]*)\.([\pL_][\pL\pN_]*) value in `)
)

// meant is the likely correction of a member or an argument that does not fit, "" if
// there is none.
func (a *Advice) meant(msg string) string {
	if m := hiddenPackage().FindStringSubmatch(msg); m != nil {
		for _, p := range a.packagesByPath(m[1]) {
			if o := p.Scope().Lookup(m[2]); o != nil && o.Exported() {
				return fmt.Sprintf("a variable hides package %s: give the variable another name", m[1])
			}
		}
	}
	if m := textAsConstant().FindStringSubmatch(msg); m != nil {
		for _, p := range a.PackagesOf(m[2]) {
			list := constantsOf(p, m[3])
			for _, name := range list {
				if strings.EqualFold(name, m[2]+"."+m[1]) {
					return "write " + name
				}
			}
			if len(list) > 0 {
				return "write one of " + strings.Join(list[:min(len(list), mostMembers)], ", ")
			}
		}
	}
	if m := noObject().FindStringSubmatch(msg); m != nil {
		for _, p := range a.PackagesOf(m[1]) {
			if near := alikeNames(m[2], exported(p.Scope().Names())); near != "" {
				return "nearest: " + near
			}
		}
	}
	if m := noMember().FindStringSubmatch(msg); m != nil && m[2] != "" {
		for _, p := range a.PackagesOf(m[1]) {
			if list := exported(membersOf(p.Scope().Lookup(m[2]))); len(list) > 0 {
				slices.Sort(list)
				answer := "it has " + strings.Join(list[:min(len(list), mostMembers)], ", ")
				if n := len(list) - mostMembers; n > 0 {
					answer += fmt.Sprintf(" and %d more, which Tab lists", n)
				}
				return answer
			}
		}
	}
	return ""
}

// mostMembers is the number of members of a type that a message lists.
const mostMembers = 12

// common are the packages that an unqualified exported name is searched in.
var common = []string{"fmt", "strings", "math", "os", "time", "sort", "slices", "strconv", "errors"}

// unqualified is the remedy for an exported name without its package.
func (a *Advice) unqualified(name string) string {
	for _, path := range common {
		p, err := a.Import(path)
		if err != nil || p.Scope().Lookup(name) == nil {
			continue
		}
		answer := fmt.Sprintf("Go writes %s.%s", p.Name(), name)
		if _, imported := a.Lookup(p.Name()).(*types.PkgName); !imported {
			answer += fmt.Sprintf(", after import %q", path)
		}
		return answer
	}
	return ""
}

// alikeNames are the names that share the most consecutive letters with a name, at least
// four.
func alikeNames(name string, names []string) string {
	var near []string
	most := 4
	for _, n := range names {
		if shared := sharedLetters(strings.ToLower(name), strings.ToLower(n)); shared > most {
			near, most = []string{n}, shared
		} else if shared == most {
			near = append(near, n)
		}
	}
	slices.SortFunc(near, func(a, b string) int { return len(a) - len(b) })
	return strings.Join(near[:min(len(near), 3)], ", ")
}

// sharedLetters is the length of the longest common substring.
func sharedLetters(a, b string) (most int) {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diag := 0
		for j := range len(b) {
			up := row[j+1]
			if row[j+1] = 0; a[i] == b[j] {
				row[j+1] = diag + 1
			}
			most, diag = max(most, row[j+1]), up
		}
	}
	return most
}
