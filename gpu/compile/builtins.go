package compile

import (
	_ "embed"
	"strings"
	"sync"

	"warpbook/kernel/leaf/lazyregexp"
)

// Builtin is a name that CUDA C++ has without a declaration in the cell.
type Builtin struct {
	Name        string
	Declaration string // "int __popc(unsigned x)"
	Short       string // one line on it
	Header      string // that declares it, "" for none
}

//go:embed builtins.txt
var builtinsText string

// builtins are the names that cells use most, in the order of the table.
var builtins = sync.OnceValue(func() (list []Builtin) {
	header := ""
	for line := range strings.Lines(builtinsText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			header = strings.TrimSuffix(name, "]")
		}
		if declaration, short, ok := strings.Cut(line, " | "); ok && !strings.HasPrefix(line, "# ") {
			list = append(list, Builtin{declaredName(declaration), declaration, short, header})
		}
	}
	return list
})

var beforeParameters = lazyregexp.New(`(\w+)(?:\(.*)?$`)

// declaredName is the name in a declaration: the last word before its parameters.
func declaredName(declaration string) string {
	return beforeParameters().FindStringSubmatch(declaration)[1]
}

// FindBuiltin is the builtin of a name.
func FindBuiltin(name string) (Builtin, bool) {
	b, ok := builtinsByName()[name]
	return b, ok
}

var builtinsByName = sync.OnceValue(func() map[string]Builtin {
	byName := map[string]Builtin{}
	for _, b := range builtins() {
		byName[b.Name] = b
	}
	return byName
})
