package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"warpbook/kernel/leaf/lazyregexp"
)

// source is CUDA C++ with the facts that its words show. It is not parsed: the
// compiler does that.
type source struct {
	text      string
	code      string // of the same length, with spaces for comments, strings and directives
	functions []function
	folders   []string // of headers in "quotes"
	unknown   []string // names that the compiler does not know
	needs     string   // architecture for which it compiles, if not for the one asked for; "" if none
}

// function is the definition of a function outside of any class.
type function struct {
	name     string
	at       int    // of the name
	template bool   // it has parameters that an instance must give
	head     string // from its first word to its parameters
	params   []parameter
	start    int // of its head, with what stands before it
	from, to int // of its body
}

// parameter is one of a function, as the source has it.
type parameter struct{ typ, name string }

func (p parameter) String() string {
	return strings.TrimSpace(strings.ReplaceAll(p.typ, " *", "*") + " " + p.name)
}

func (f function) has(space string) bool {
	return strings.Contains(f.head, "__"+space+"__")
}

// host reports whether the function runs on the host only.
func (f function) host() bool {
	return !f.has("global") && !f.has("device") && !strings.Contains(f.head, "constexpr")
}

func scan(text string) *source {
	s := &source{text: text}
	noComments := blank(text)
	s.code = blankDirectives(noComments)
	s.findFunctions()
	return s
}

// hidden are the parts of a source that hold no code.
var hidden = lazyregexp.New(`(?s)//[^\n]*|/\*.*?(\*/|$)|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'`)

// blank replaces comments and quoted text by spaces.
func blank(text string) string {
	return hidden().ReplaceAllStringFunc(text, func(part string) string {
		if part[0] == '"' || part[0] == '\'' {
			return part[:1] + strings.Repeat(" ", max(0, len(part)-2)) + part[len(part)-1:]
		}
		return spaces(part)
	})
}

// spaces is text with all but its line ends replaced.
func spaces(text string) string {
	b := []byte(text)
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

var directive = lazyregexp.New(`(?m)^[ \t]*#(?:[^\n\\]|\\\r?\n|\\)*`)

func blankDirectives(text string) string { return directive().ReplaceAllStringFunc(text, spaces) }

// findFunctions walks over the braces outside of functions.
func (s *source) findFunctions() {
	start := 0 // of the declaration that is being read
	for i := 0; i < len(s.code); i++ {
		switch s.code[i] {
		case ';', '}':
			start = i + 1
		case '{':
			head := s.code[start:i]
			if opensScope(head) {
				start = i + 1
				continue
			}
			end := matching(s.code, i)
			if f, ok := s.function(start, i); ok {
				f.start, f.from, f.to = start, i, end
				s.functions = append(s.functions, f)
				start = end
			}
			i = max(i, end-1)
		}
	}
}

var scopeHead = lazyregexp.New(`^\s*(?:extern\s*"\s*"|(?:inline\s+)?namespace\b[\w\s:]*)\s*$`)

func opensScope(head string) bool { return scopeHead().MatchString(head) }

// matching is the offset after the bracket that closes the one at i; the end if none
// does.
func matching(code string, i int) int {
	depth := 0
	for ; i < len(code); i++ {
		switch code[i] {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(code)
}

var (
	// attribute matches words before a function's name that have parentheses of their own.
	attribute    = lazyregexp.New(`\b(?:__launch_bounds__|__cluster_dims__|__block_size__|__maxnreg__|__attribute__|__align__|alignas|__declspec)\s*\(`)
	functionName = lazyregexp.New(`([A-Za-z_]\w*)\s*(?:<[^;{}()<>]*>)?\s*\(`)
	statement    = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "return": true, "sizeof": true}
	typed        = lazyregexp.New(`[\w>*&]$`) // a type stands before the name
	templateHead = lazyregexp.New(`\btemplate\s*<\s*[^\s>]`)
	classHead    = lazyregexp.New(`^\s*(?:template\s*<[^{}]*>\s*)?(?:struct|class|union|enum)\b`)
)

// function reads the head of a function: from start to the brace at end.
func (s *source) function(start, end int) (f function, ok bool) {
	head := s.code[start:end]
	for _, at := range attribute().FindAllStringIndex(head, -1) {
		to := matching(head, at[1]-1)
		head = head[:at[0]] + spaces(head[at[0]:to]) + head[to:]
	}
	m := functionName().FindStringSubmatchIndex(head)
	if m == nil || classHead().MatchString(head[:m[2]]) && !strings.Contains(head[:m[2]], "__") || strings.Contains(head[:m[2]], "=") && !templateHead().MatchString(head[:m[2]]) {
		return f, false
	}
	f.name, f.at, f.head = head[m[2]:m[3]], start+m[2], strings.TrimSpace(head[:m[2]])
	if statement[f.name] || !typed().MatchString(f.head) {
		return f, false
	}
	f.template = templateHead().MatchString(f.head)
	open := m[1] - 1
	f.params = parameters(head[open+1 : max(open+1, matching(head, open)-1)])
	return f, true
}

var lastName = lazyregexp.New(`([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*$`)

// parameters splits a list of parameters at its commas.
func parameters(list string) (params []parameter) {
	for _, text := range splitTop(list) {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" || text == "void" {
			continue
		}
		text, _, _ = strings.Cut(text, "=")
		p := parameter{typ: strings.TrimSpace(text)}
		if m := lastName().FindStringSubmatchIndex(text); m != nil && m[2] > 0 {
			p = parameter{typ: strings.TrimSpace(text[:m[2]]), name: text[m[2]:m[3]]}
		}
		params = append(params, p)
	}
	return params
}

// splitTop splits at the commas outside of brackets.
func splitTop(list string) (parts []string) {
	depth, from := 0, 0
	for i, r := range list {
		switch r {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, list[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, list[from:])
}

// place is the line and the column of an offset.
func (s *source) place(at int) (line, col int) {
	before := s.text[:at]
	return strings.Count(before, "\n") + 1, at - strings.LastIndexByte(before, '\n')
}

func (s *source) diagnostic(at int, format string, args ...any) Diagnostic {
	line, col := s.place(at)
	return Diagnostic{line, col, fmt.Sprintf(format, args...)}
}

// line is the text of a line, without the blanks around it.
func (s *source) line(n int) string { return strings.TrimSpace(s.textLine(n)) }

// textLine is the text of a line, and codeLine that without comments, strings and
// directives.
func (s *source) textLine(n int) string { return lineOf(s.text, n) }
func (s *source) codeLine(n int) string { return lineOf(s.code, n) }

func lineOf(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return lines[n-1]
}

// lines are those of a function: where its head begins, where its body begins, and
// where it ends.
func (s *source) lines(f function) (first, body, last int) {
	head := s.code[f.start:f.from]
	first, _ = s.place(f.start + len(head) - len(strings.TrimLeftFunc(head, unicode.IsSpace)))
	body, _ = s.place(f.from)
	last, _ = s.place(f.to - 1)
	return first, body, last
}

// own is the text of a function with the comment above it.
func (s *source) own(f function) string {
	start := f.start
	for _, at := range directive().FindAllStringIndex(s.text[f.start:f.at], -1) {
		start = f.start + at[1]
	}
	return strings.TrimSpace(s.text[start:f.to])
}

// wordAt is the offset of a word in the code, -1 if it is not there.
func (s *source) wordAt(name string) int {
	if at := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).FindStringIndex(s.code); at != nil {
		return at[0]
	}
	return -1
}

// in is the function around an offset, nil if none.
func (s *source) in(at int) *function {
	for i, f := range s.functions {
		if f.from <= at && at < f.to {
			return &s.functions[i]
		}
	}
	return nil
}

// misspelt are misspelt forms of __global__.
var misspelt = lazyregexp.New(`\b(?:__global|_global_|__global___|global__)\b|\bglobal\s+void\b`)

// noKernel complains of a source without a kernel, where its code begins.
func (s *source) noKernel() []Diagnostic {
	for _, f := range s.functions {
		if f.has("global") {
			return nil
		}
	}
	at := strings.IndexFunc(s.code, func(r rune) bool { return !unicode.IsSpace(r) })
	if at < 0 {
		at = 0
	}
	switch {
	case len(s.functions) > 0:
		return []Diagnostic{s.diagnostic(at, "no kernel: expected a __global__ function, which may call those that are here")}
	case prototype().MatchString(s.code):
		return []Diagnostic{s.diagnostic(at, "no kernel: a declaration without a body: functions of CUDA are there already, call them in a __global__ function")}
	}
	return []Diagnostic{s.diagnostic(at, "no kernel: these lines are part of a function: put __global__ void name(...) { } around them, and declare what they use")}
}

// prototype matches a source that is one declaration of a function.
var prototype = lazyregexp.New(`^\s*[\w<>, ]+[ *]\w+\s*\([^;{}()]*\)\s*;?\s*$`)

// missingInstances are complaints of kernel templates without an instance; all is true where
// the source has no other kernel: there would be no entry to launch.
func (s *source) missingInstances(names []string) (diagnostics []Diagnostic, all bool) {
	all = true
	for _, f := range s.functions {
		explicit := regexp.MustCompile(`\btemplate\s+[^;{}<]*\b` + f.name + `\s*(?:<[^;{}]*>)?\s*\([^;{}]*\)\s*;`)
		asked := slices.ContainsFunc(names, func(name string) bool {
			base, _, _ := strings.Cut(name, "<")
			return strings.TrimSpace(base[strings.LastIndexByte(base, ':')+1:]) == f.name
		})
		if f.template && f.has("global") && !asked && !explicit.MatchString(s.code) {
			diagnostics = append(diagnostics, s.diagnostic(f.at,
				"template %s is not instantiated: name an instance on the first line, such as --instantiate '%s'", f.name, f.example()))
		} else if f.has("global") {
			all = false
		}
	}
	return diagnostics, all && len(diagnostics) > 0
}

var templateParameters = lazyregexp.New(`\btemplate\s*<([^{}]*?)>\s*(?:__|extern|void|static|inline)`)

// example is an instance of a template.
func (f function) example() string {
	m := templateParameters().FindStringSubmatch(f.head + " __")
	if m == nil {
		return f.name + "<256>"
	}
	var args []string
	for _, p := range splitTop(m[1]) {
		switch strings.TrimFunc(strings.SplitN(strings.TrimSpace(p), " ", 2)[0], unicode.IsSpace) {
		case "typename", "class":
			args = append(args, "float")
		case "bool":
			args = append(args, "true")
		default:
			args = append(args, "256")
		}
	}
	return f.name + "<" + strings.Join(args, ", ") + ">"
}
