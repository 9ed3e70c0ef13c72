package clang

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var (
	instance = lazyregexp.New(`^\s*(?:\.visible\s+)?\.(?:const|global) \.align 8 \.u64 \w*?` + named + `(\d+) = ([\w$]+);`)
	debug    = lazyregexp.New(`(?m)^\s*\.section\s+\.debug_info`)
	label    = lazyregexp.New(`^(\$L__(?:tmp|func_begin|func_end)\d+):$`)
	remark   = lazyregexp.New(`\s*// (?:-- |\.globl|@|%bb\.|[^/]*:\d+:\d+).*$`)
	fileLine = lazyregexp.New(`^(\s*\.file\s+\d+\s+")[^"]*/([^"/]+")`)
	// A kernel whose address is taken is declared before it is defined.
	declared = lazyregexp.New(`(?m)^\.visible \.entry [\w$]+\n\(\n(?:\t\.param [^\n]*\n)*\)\n;\n`)
	macros   = lazyregexp.New(`^\s*\.section\s+\.debug_macinfo\s*\{\s*\}`)
)

// tidy returns the PTX without the variables of wrap, without folders in its line
// information and without labels and remarks that nothing refers to, and the symbols of
// the name expressions.
func tidy(text string, names []string) (ptx string, lowered map[string]string) {
	lowered = map[string]string{}
	whole := debug().MatchString(text) // whose sections refer to labels
	text = ownNames(declared().ReplaceAllString(text, ""))
	var b strings.Builder
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := instance().FindStringSubmatch(line); m != nil {
			var i int
			fmt.Sscan(m[1], &i) // digits
			if i < len(names) {
				lowered[names[i]] = m[2]
				continue
			}
		}
		kept := remark().ReplaceAllString(line, "")
		if strings.TrimSpace(kept) == "" && strings.TrimSpace(line) != "" || !whole && label().MatchString(line) || macros().MatchString(line) {
			continue
		}
		if kept == "" && strings.HasPrefix(last, "\t") { // around a remark
			continue
		}
		last = kept
		b.WriteString(fileLine().ReplaceAllString(kept, "$1$2"))
		b.WriteByte('\n')
	}
	return b.String(), lowered
}

var internal = lazyregexp.New(`\b_ZL(\d+)([A-Za-z_]\w*)\b`)

// ownNames gives variables of one source their own names, as NVRTC does: LLVM's _ZL7weights
// of a static or constant variable is weights, unless the text has another one of that name.
func ownNames(text string) string {
	return internal().ReplaceAllStringFunc(text, func(symbol string) string {
		m := internal().FindStringSubmatch(symbol)
		if n, _ := strconv.Atoi(m[1]); n != len(m[2]) || strings.HasPrefix(m[2], named) || word(m[2]).MatchString(text) {
			return symbol
		}
		return m[2]
	})
}

func word(name string) *regexp.Regexp { return regexp.MustCompile(`(?:^|[^\w$.%])` + name + `\b[^(]`) }
