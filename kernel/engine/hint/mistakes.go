package hint

import (
	"go/types"
	"regexp"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// mistakes are messages of the type checker that name no remedy, and the remedy. $1 is
// the first group of the pattern.
var mistakes = []struct {
	pattern func() *regexp.Regexp
	answer  string
}{
	{lazyregexp.New(`\(mismatched types (?:u?int(?:8|16|32|64)?|float32|float64) and time\.Duration\)$|\(mismatched types time\.Duration and (?:u?int|float)`),
		"convert the number, as in time.Duration(n) * time.Second"},
	{lazyregexp.New(`^cannot convert .* \((?:untyped string constant.*|variable of type string|value of type string)\) to type u?int(?:8|16|32|64)?$`), "Go writes n, err := strconv.Atoi(s)"},
	{lazyregexp.New(`^cannot convert .* \((?:untyped string constant.*|variable of type string|value of type string)\) to type float(?:32|64)$`), "Go writes x, err := strconv.ParseFloat(s, 64)"},
	{lazyregexp.New(`^multiple-value ([\pL_][\pL\pN_.]*)\(.*\) \(value of type \([^,]*, error\)\) in single-value context$`), "take both results first: x, err := $1(...)"},
	{lazyregexp.New(`^non-boolean condition in (?:if|for) statement$`), "a condition compares: len(xs) > 0, n != 0, p != nil"},
	{lazyregexp.New(`^invalid argument: (.+) \(variable of type \[\].*\) cannot be ordered$`), "of the elements of a slice, Go writes slices.Max($1) and slices.Min($1)"},
	{lazyregexp.New(`^invalid argument: index -\d+ \(constant of type int\) must not be negative$`), "the last element is x[len(x)-1]"},
	{lazyregexp.New(`^(.+)\.[sS]ort(?:ed)? undefined \(type \[\]`), "Go writes slices.Sort($1)"},
	{lazyregexp.New(`^(.+)\.[rR]everse undefined \(type \[\]`), "Go writes slices.Reverse($1)"},
	{lazyregexp.New(`^(.+)\.(?:[cC]ontains|[iI]ncludes|[hH]as) undefined \(type \[\]`), "Go writes slices.Contains($1, x)"},
	{lazyregexp.New(`^(.+)\.(?:[iI]ndex|[iI]ndexOf|[fF]ind) undefined \(type \[\]`), "Go writes slices.Index($1, x)"},
	{lazyregexp.New(`^(.+)\.[pP]op undefined \(type \[\]`), "Go writes x, $1 = $1[len($1)-1], $1[:len($1)-1]"},
	{lazyregexp.New(`^(.+)\.(?:[kK]eys|[iI]tems|[vV]alues) undefined \(type map\[`), "Go writes for k, v := range $1 { }"},
	{lazyregexp.New(`^(.+)\.(?:[hH]as|[cC]ontains|[gG]et) undefined \(type map\[`), "Go writes v, ok := $1[key]"},
}

// mistake is the remedy for one of the mistakes, "" if a message is about none.
func mistake(msg, line string) string {
	if truncated().MatchString(msg) && strings.Contains(line, "time.") {
		return "a time.Duration is a whole number: 1500 * time.Millisecond, or time.Duration(x * float64(time.Second))"
	}
	for _, m := range mistakes {
		if at := m.pattern().FindStringSubmatchIndex(msg); at != nil {
			return string(m.pattern().ExpandString(nil, m.answer, msg, at))
		}
	}
	return ""
}

// constantsOf are the exported constants of a named type of a package, as code writes
// them.
func constantsOf(p *types.Package, name string) (list []string) {
	for _, n := range p.Scope().Names() {
		if o, ok := p.Scope().Lookup(n).(*types.Const); ok && o.Exported() && strings.HasSuffix(o.Type().String(), "."+name) {
			list = append(list, p.Name()+"."+n)
		}
	}
	return list
}
