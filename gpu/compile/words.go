package compile

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// Words are the names that a cell in CUDA C++ can use, for completion and help: its own
// functions and other names first, then those of the table. The cell may be half written.
func Words(text string) []Builtin {
	s := scan(text)
	var words []Builtin
	seen := map[string]bool{}
	add := func(b Builtin) {
		if !seen[b.Name] {
			seen[b.Name] = true
			words = append(words, b)
		}
	}
	for _, f := range s.functions {
		var params []string
		for _, p := range f.params {
			params = append(params, p.String())
		}
		head := strings.Join(strings.Fields(f.head), " ")
		add(Builtin{Name: f.name, Declaration: head + " " + f.name + "(" + strings.Join(params, ", ") + ")", Short: "A function of this cell."})
	}
	for _, name := range word().FindAllString(s.code, -1) {
		if _, known := FindBuiltin(name); !known {
			add(Builtin{Name: name, Short: "A name of this cell."})
		}
	}
	for _, m := range macro().FindAllStringSubmatch(blankComments(text), -1) {
		add(Builtin{Name: m[1], Declaration: strings.TrimSpace(m[0]), Short: "A macro of this cell."})
	}
	for _, b := range builtins() {
		add(b)
	}
	return words
}

var macro = lazyregexp.New(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)[^\n]*`)
