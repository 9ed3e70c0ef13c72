package ladder

import (
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// declaration is one of a CUDA file's own functions, types, variables or macros,
// with the comment above it.
type declaration struct {
	names []string // the names that it declares; of a macro also those that its uses declare
	text  string   // ends with a newline
}

// of reports whether it is an entry of a rung.
func (d declaration) of(variant string) bool {
	return slices.Contains(d.names, variant) || slices.Contains(d.names, variant+"_2")
}

var condition = lazyregexp.New(`^#(if|else|endif)\b(?: __CUDA_ARCH__ >= (\d+))?`)

// compiled is source with the branches alone that are compiled for a GPU.
func compiled(source string, arch int) string {
	var out strings.Builder
	var taken []bool // by depth of #if
	for line := range strings.Lines(source) {
		m := condition().FindStringSubmatch(line)
		switch {
		case m == nil && !slices.Contains(taken, false):
			out.WriteString(line)
		case m == nil:
		case m[1] == "if":
			taken = append(taken, number(m[2]) <= arch)
		case m[1] == "else":
			taken[len(taken)-1] = !taken[len(taken)-1]
		default:
			taken = taken[:len(taken)-1]
		}
	}
	return out.String()
}

var (
	literal  = lazyregexp.New(`"(?:\\.|[^"\\\n])*"|//.*`)
	instance = lazyregexp.New(`^([A-Z]+)\(.*\)$`) // of a macro, at the top of the file
)

// declarationsOf splits a file where a line outside of all braces ends what it
// declares.
func declarationsOf(source string) (all []declaration) {
	var comment, text, code strings.Builder
	for line := range strings.Lines(source) {
		bare := strings.TrimSpace(literal().ReplaceAllString(line, ""))
		switch {
		case text.Len() == 0 && strings.HasPrefix(line, "//"):
			comment.WriteString(line)
			continue
		case text.Len() == 0 && (bare == "" || bare == "#pragma once" || strings.HasPrefix(line, "#include")):
			comment.Reset() // it was of the file or a part of it
			continue
		}
		text.WriteString(line)
		code.WriteString(bare + "\n")
		if !complete(code.String()) {
			continue
		}
		names := declared(code.String())
		if m := instance().FindStringSubmatch(bare); m != nil {
			for _, d := range all {
				if d.names[0] == m[1] {
					names = d.names
				}
			}
		}
		all = append(all, declaration{names, comment.String() + text.String()})
		comment.Reset()
		text.Reset()
		code.Reset()
	}
	return all
}

// complete reports whether a declaration ends here. Its literals are gone.
func complete(code string) bool {
	code = strings.TrimSpace(code)
	if strings.HasPrefix(code, "#") {
		return !strings.HasSuffix(code, `\`)
	}
	open := strings.Count(code, "{") + strings.Count(code, "(")
	return open == strings.Count(code, "}")+strings.Count(code, ")") &&
		(strings.HasSuffix(code, "}") || strings.HasSuffix(code, ";") || instance().MatchString(code))
}

var (
	attribute = lazyregexp.New(`__\w+__\([^()]*\)|^template <.*?>\s`)
	macroName = lazyregexp.New(`^#define (\w+)`)
	typeName  = lazyregexp.New(`\b(?:struct|using) (\w+)`)
	otherName = lazyregexp.New(`(\w+)(?:<[\w ]+>)?\s*[({\[;=]`)
)

// declared are the names that a declaration, without literals, declares.
func declared(code string) (names []string) {
	if m := macroName().FindStringSubmatch(code); m != nil {
		names = append(names, m[1])
		_, code, _ = strings.Cut(code, "\n")
	}
	code = attribute().ReplaceAllString(code, "")
	head, _, _ := strings.Cut(code, "{")
	if m := typeName().FindStringSubmatch(head); m != nil {
		return append(names, m[1])
	}
	if m := otherName().FindStringSubmatch(code); m != nil && (names == nil || strings.Contains(head, "__device__")) {
		names = append(names, m[1])
	}
	return names
}

// used are the entries of a rung and all that they use, directly or
// indirectly, in the order of the file.
func used(all []declaration, variant string) []declaration {
	wanted := make([]bool, len(all))
	var want func(int)
	want = func(i int) {
		wanted[i] = true
		for j, d := range all {
			if !wanted[j] && all[i].uses(d) {
				want(j)
			}
		}
	}
	for i, d := range all {
		if !wanted[i] && d.of(variant) {
			want(i)
		}
	}
	var chosen []declaration
	for i, d := range all {
		if wanted[i] {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// uses reports whether the code of d names what other declares, and does not
// mean a member, a local variable or a method of its own.
func (d declaration) uses(other declaration) bool {
	code := ""
	for _, name := range other.names {
		if slices.Contains(d.names, name) || !strings.Contains(d.text, name) {
			continue // which spares most pairs the expressions below
		}
		if code == "" {
			code = literal().ReplaceAllString(d.text, "")
		}
		named := regexp.MustCompile(`(?:^|[^.>:\w]|[^-]>)` + name + `\b`)
		local := regexp.MustCompile(`\b(?:auto|void|bool|int|unsigned|float4?) [*&]?` + name + `\b`)
		macro := strings.ToUpper(name) == name
		if named.MatchString(code) && (macro || !local.MatchString(code)) {
			return true
		}
	}
	return false
}
