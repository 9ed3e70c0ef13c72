// Package names finds names of the source that PTX does not have: which element of an array in
// shared memory lies at an offset, and which variable was never written. PTX has the lines
// of instructions only, so the declarations are read from the text of the source. Where
// they leave a doubt, no name is given.
//
// Its main type is Source, which package engine makes for a fault. The package knows the text
// (gpu/ptx) and nothing of execution, and must not import engine.
package names

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// Source is the source of an entry.
type Source struct {
	Line  func(place string) string // the text of "a.cu:7", "" where it is not known; nil for no text
	Files map[int]string            // the names of the files in Code
	Code  []ptx.Instruction         // of the entry and the functions that it calls
}

// typeBytes are the sizes of types of the source.
var typeBytes = map[string]int{"bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "int8_t": 1, "uint8_t": 1,
	"short": 2, "unsigned short": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2,
	"int": 4, "unsigned": 4, "unsigned int": 4, "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4, "half2": 4, "__half2": 4, "__nv_bfloat162": 4,
	"long long": 8, "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8, "float2": 8, "int2": 8, "uint2": 8,
	"float4": 16, "int4": 16, "uint4": 16, "double2": 16}

var (
	sharedType = lazyregexp.New(`__shared__\s+(?:(?:volatile|const|__align__\s*\(\d+\)|alignas\s*\(\d+\))\s+)*((?:unsigned |signed |long )*[A-Za-z_]\w*)\s`)
	dimension  = lazyregexp.New(`\[([^\]]*)\]`)
	oneWord    = lazyregexp.New(`[A-Za-z_]\w*`)
)

// Element names the element of a shared variable at an offset as the source does: s[160],
// t[3][5]. The PTX has the variable's number of bytes.
func (s Source) Element(name string, bytes uint64, offset int64) string {
	dims, size, ok := s.declared(name, int(bytes))
	if !ok || offset < 0 {
		return ""
	}
	at := int(offset) / size
	for i := range dims {
		inner := 1
		for _, d := range dims[i+1:] {
			inner *= d
		}
		name += fmt.Sprintf("[%d]", at/inner)
		at %= inner
	}
	return name
}

// declared are the dimensions of a shared variable and the bytes of an element, if the
// source declares it in one line and with the size that the PTX has.
func (s Source) declared(variable string, bytes int) (dims []int, size int, ok bool) {
	name := regexp.MustCompile(`\b` + variable + `\s*((?:\[[^\]]*\]\s*)*)[;,=]`)
	for _, text := range slices.Backward(s.lines()) {
		typ, at := sharedType().FindStringSubmatch(text), name.FindStringSubmatch(text)
		if typ == nil || at == nil {
			continue
		}
		size = typeBytes[typ[1]]
		total := size
		for i, d := range dimension().FindAllStringSubmatch(at[1], -1) {
			n, known := s.constant(d[1], 4)
			if i > 0 && (!known || n < 1) {
				return nil, 0, false
			}
			if dims, total = append(dims, n), total*n; !known {
				total = bytes
			}
		}
		return dims, size, size > 0 && (total == bytes || total == 0 && len(dims) > 0)
	}
	return nil, 0, false
}

// constant is the value of an expression of the source: numbers, their names, sums and
// products.
func (s Source) constant(text string, depth int) (int, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	for _, sign := range []string{"+", "*"} {
		if a, b, ok := strings.Cut(text, sign); ok && depth > 0 {
			x, known := s.constant(a, depth-1)
			y, too := s.constant(b, depth-1)
			if sign == "+" {
				return x + y, known && too
			}
			return x * y, known && too
		}
	}
	if depth == 0 || oneWord().FindString(text) != text || text == "" {
		return 0, false
	}
	value := regexp.MustCompile(`(?:#\s*define\s+` + text + `\s+|\b(?:const|constexpr)\b[^;=]*\b` + text + `\s*=\s*)([\w+* ]+)`)
	for _, line := range s.lines() {
		if m := value.FindStringSubmatch(line); m != nil {
			return s.constant(m[1], depth-1)
		}
	}
	return 0, false
}

// lines are the lines of the source up to the last one that the entry was made of.
func (s Source) lines() (lines []string) {
	last := map[int]int{}
	for _, in := range s.Code {
		last[in.Source.File] = max(last[in.Source.File], in.Source.Line)
	}
	for file, n := range last {
		if name := s.Files[file]; s.Line != nil && s.textOf(name, n) != "" {
			for i := range n {
				lines = append(lines, s.textOf(name, i+1))
			}
			return lines
		}
	}
	return nil
}

func (s Source) textOf(file string, line int) string {
	return s.Line(fmt.Sprintf("%s:%d", path.Base(file), line))
}

// Unwritten is the variable that a line reads before it was written: the one word of the line
// that a line above declares without a value. It is "" in doubt.
func (s Source) Unwritten(at ptx.Source) string {
	lines := s.lines()
	if at.Line < 1 || at.Line > len(lines) || s.textOf(s.Files[at.File], at.Line) != lines[at.Line-1] {
		return ""
	}
	var found []string
	for _, word := range oneWord().FindAllString(lines[at.Line-1], -1) {
		if !slices.Contains(found, word) && declaresWithout(lines[:at.Line], word) {
			found = append(found, word)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// declaresWithout reports whether the last declaration of a name gives it no value.
func declaresWithout(lines []string, name string) bool {
	declares := regexp.MustCompile(`^(?:.*[;{]|)\s*(?:(?:unsigned|signed|long|volatile|register) )*(\w+)\s+(?:\w+(?:\s*=[^,;]*)?\s*,\s*)*` + name + `\s*((?:\[[^\]]*\]\s*)*)([,;=({])`)
	for _, text := range slices.Backward(lines) {
		if strings.Contains(text, "__shared__") {
			continue
		}
		if m := declares.FindStringSubmatch(text); m != nil && typeBytes[m[1]] > 0 {
			return m[3] == "," || m[3] == ";"
		}
		if strings.Contains(text, "__global__") || strings.Contains(text, "__device__") {
			return false
		}
	}
	return false
}
