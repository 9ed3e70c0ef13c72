// Package highlight marks the tokens of Go, CUDA C++ and PTX in HTML. Reports of notebooks
// and the code that operators show use it.
package highlight

import (
	"html"
	"maps"
	"slices"
	"strings"
	"text/scanner"
)

// syntax describes a language with C-like tokens for highlighting.
type syntax struct {
	mode     uint
	keywords map[string]bool
	types    map[string]bool
	hash     bool // a line that starts with # is a preprocessor directive
}

const tokens = scanner.GoTokens &^ scanner.SkipComments

var (
	goSyntax = &syntax{
		mode: tokens,
		keywords: words(`break case chan const continue default defer else fallthrough for func go goto if import
			interface map package range return select struct switch type var true false nil iota`),
		types: words(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64
			rune string uint uint8 uint16 uint32 uint64 uintptr`),
	}
	cudaSyntax = &syntax{
		mode: tokens &^ scanner.ScanRawStrings,
		keywords: words(`auto break case catch class const constexpr continue default delete do else enum explicit
			extern false for friend goto if inline namespace new noexcept nullptr operator private protected public
			register return sizeof static static_assert struct switch template this throw true try typedef typename
			union using virtual volatile while asm __asm__ __constant__ __device__ __forceinline__ __global__
			__grid_constant__ __host__ __launch_bounds__ __managed__ __noinline__ __restrict__ __shared__
			blockDim blockIdx gridDim threadIdx warpSize`),
		types: words(`bool char double dim3 double2 float float2 float4 half half2 int int2 int4 int32_t int64_t long
			short signed size_t uint2 uint4 uint8_t uint32_t uint64_t uint unsigned void __half __half2
			__nv_bfloat16`),
		hash: true,
	}
	ptxSyntax = &syntax{mode: tokens &^ scanner.ScanRawStrings}

	syntaxes = map[string]*syntax{
		"go": goSyntax, "golang": goSyntax,
		"c": cudaSyntax, "cpp": cudaSyntax, "c++": cudaSyntax, "cuda": cudaSyntax, "cu": cudaSyntax,
		"ptx": ptxSyntax,
	}
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// Languages are the names that HTML knows.
func Languages() []string { return slices.Sorted(maps.Keys(syntaxes)) }

// Class is the usual attribute of a token: its kind as a class.
func Class(kind string) string { return `class="` + kind + `"` }

// HTML returns source as HTML whose text is the source, byte for byte. The attribute of a
// token is that of its kind: c comment, s string, m number, p directive, k keyword, t type,
// f function. A scanner
// of the standard library suffices for the few languages here; a highlighting package
// would take longer to compile than the rest of warpbook.
func HTML(source, language string, attribute func(kind string) string) string {
	syntax := syntaxes[strings.ToLower(language)]
	if syntax == nil {
		return html.EscapeString(source)
	}
	var b strings.Builder
	var s scanner.Scanner
	s.Init(strings.NewReader(source))
	s.Mode, s.Whitespace = syntax.mode, 0
	s.Error = func(*scanner.Scanner, string) {} // incomplete code is shown too
	end := 0
	lineStart := true
	for token := s.Scan(); token != scanner.EOF; token = s.Scan() {
		if lineStart && syntax.hash && token == '#' {
			for s.Peek() != '\n' && s.Peek() != scanner.EOF {
				s.Next()
			}
			token = directive
		}
		start := end
		end = s.Pos().Offset
		text := source[start:end]
		writeToken(&b, syntax.kind(token, text, s.Peek()), text, attribute)
		lineStart = token == '\n' || lineStart && strings.TrimSpace(text) == ""
	}
	b.WriteString(html.EscapeString(source[end:]))
	return b.String()
}

// directive is a preprocessor line, in addition to the tokens of text/scanner.
const directive = -100

// kind returns the kind of a token; next is the character after it.
func (s *syntax) kind(token rune, text string, next rune) string {
	switch token {
	case scanner.Comment:
		return "c"
	case scanner.String, scanner.RawString, scanner.Char:
		return "s"
	case scanner.Int, scanner.Float:
		return "m"
	case directive:
		return "p"
	case scanner.Ident:
		switch {
		case s.keywords[text]:
			return "k"
		case s.types[text]:
			return "t"
		case next == '(':
			return "f"
		}
	}
	return ""
}

func writeToken(b *strings.Builder, kind, text string, attribute func(string) string) {
	if kind == "" {
		b.WriteString(html.EscapeString(text))
		return
	}
	b.WriteString("<span " + attribute(kind) + ">" + html.EscapeString(text) + "</span>")
}
