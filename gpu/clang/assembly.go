package clang

import (
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

var (
	// assembly matches the start of a statement, or a literal or comment, in which none starts.
	assembly = lazyregexp.New(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|` + comment + `|\b(?:asm|__asm|__asm__)\s*(?:(?:volatile|__volatile__)\s*)?\(`)
	blank    = lazyregexp.New(`^(?:` + comment + `)`)
	register = lazyregexp.New(`%+[A-Za-z_]`)
)

const comment = `//[^\n]*|/\*(?s:.*?)\*/`

// doubled doubles the % of registers in assembly with operands, "mov.u32 %0, %laneid;", which
// nvcc and NVRTC take, and clang only as "%%laneid".
func doubled(source string) string {
	if !strings.Contains(source, "asm") {
		return source
	}
	var b strings.Builder
	for {
		m := assembly().FindStringIndex(source)
		if m == nil {
			break
		}
		b.WriteString(source[:m[1]])
		start := source[m[0]:m[1]]
		source = source[m[1]:]
		if !strings.HasSuffix(start, "(") || strings.HasPrefix(start, "/") {
			continue
		}
		template, operands := templateOf(source)
		if operands {
			b.WriteString(register().ReplaceAllStringFunc(template, func(s string) string {
				if strings.Count(s, "%") == 1 {
					return "%" + s
				}
				return s
			}))
		} else {
			b.WriteString(template)
		}
		source = source[len(template):]
	}
	b.WriteString(source)
	return b.String()
}

// templateOf is the text up to the first operand or the end of a statement of assembly, and
// whether there are operands.
func templateOf(source string) (template string, operands bool) {
	quoted, depth := false, 0
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '/':
			i += max(0, len(blank().FindString(source[i:]))-1)
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')' || c == ';':
			return source[:i], false
		case c == ':':
			return source[:i], true
		}
	}
	return source, false
}
