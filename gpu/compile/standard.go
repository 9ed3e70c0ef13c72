package compile

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/lazyregexp"
)

// NVRTC knows CUDA's own names and no header of C or C++. nvcc finds those headers on
// its host, and includes some by itself. Cells are written for nvcc: they find the
// headers in the folder standard, and a name of one that the cell uses and includes
// nowhere is declared before the cell. Other names are not declared, so that they never
// collide with those of the cell, and a cell that NVRTC compiles alone is left alone.

//go:embed standard
var standardFiles embed.FS

// standardOrder are the files of the folder standard, each after those that it needs.
var standardOrder = []string{"sys/types.h", "stddef.h", "stdint.h", "limits.h", "float.h", "math.h", "assert.h", "dot.h", "pow.h",
	"cstddef", "cstdint", "cstring", "cstdio", "cstdlib", "cmath"}

// sameAs are headers whose contents another one has, or which declare what is built in: "".
var sameAs = map[string]string{"climits": "limits.h", "cfloat": "float.h", "cassert": "assert.h", "stdio.h": "", "stdlib.h": "", "string.h": ""}

// inCCCL are the headers of C++ whose names CCCL has in cuda::std.
var inCCCL = []string{"array", "atomic", "bit", "bitset", "complex", "concepts", "functional", "initializer_list", "iterator", "limits",
	"numeric", "optional", "ratio", "span", "tuple", "type_traits", "utility", "variant"}

// standardHeaders are the headers of C and C++ for NVRTC, by name.
var standardHeaders = sync.OnceValue(func() map[string]string {
	headers := map[string]string{}
	for _, name := range standardOrder {
		headers[name] = standardText(name)
	}
	for name, same := range sameAs {
		headers[name] = headers[same]
	}
	headers["algorithm"] = standardText("algorithm")
	for _, name := range inCCCL {
		headers[name] = "#pragma once\n#include <cuda/std/" + name + ">\nnamespace std { using namespace cuda::std; }\n"
	}
	return headers
})

func standardText(name string) string {
	text, err := standardFiles.ReadFile("standard/" + name)
	if err != nil {
		panic(err) // the list names a file that is not there
	}
	return string(text)
}

// declaring matches a line of a standard header that declares a name: a macro, a type,
// a name of namespace std, or a function.
var declaring = lazyregexp.New(`^(?:#define (\w+)|typedef .*\b(\w+);|namespace (std) \{ (?:using ::|typedef .*\b)(\w+); \}|static __device__ .*?(\w+)\()`)

// declares is the name that a line declares, with std:: in front for one of that
// namespace; "" if none.
func declares(line string) string {
	m := declaring().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	name := strings.Join([]string{m[1], m[2], m[4], m[5]}, "")
	if m[3] != "" {
		name = "std::" + name
	}
	return name
}

// standardNames are the names that the standard headers declare.
var standardNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, file := range standardOrder {
		for line := range strings.Lines(standardText(file)) {
			names[declares(line)] = true
		}
	}
	delete(names, "")
	names["std"] = true // clang has no such namespace without a header
	return names
})

// standardLines are the declarations of some names, in the order of the headers, with
// the conditions around them.
func standardLines(names []string) string {
	var b strings.Builder
	if slices.Contains(names, "std") {
		b.WriteString("namespace std { }\n")
	}
	for _, file := range standardOrder {
		conditions := file != "assert.h" // whose conditions hold no declaration
		for line := range strings.Lines(standardText(file)) {
			name := declares(line)
			plain := strings.TrimPrefix(name, "std::") // std::uint32_t needs uint32_t
			if name != "" && (slices.Contains(names, name) || name == plain && slices.Contains(names, "std::"+name)) ||
				conditions && conditionalLine().MatchString(line) {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

var conditionalLine = lazyregexp.New(`^#(?:if|else|endif)`)

// implicitHeader is the name of the header that holds the declarations before a cell.
const implicitHeader = "warpbook_implicit.h"

// compile runs the compiler, again with declarations before the source while it misses
// names of the standard headers.
func (s *source) compile(ctx context.Context, run runner, request compiler.Request) (compiler.Reply, error) {
	request.Headers = standardHeaders()
	var declared []string
	for {
		reply, err := run(ctx, request)
		missing := slices.DeleteFunc(s.undeclared(reply), func(name string) bool { return slices.Contains(declared, name) })
		if err != nil || len(missing) == 0 {
			return reply, err
		}
		if declared == nil {
			request.Options = append(slices.Clip(request.Options), "--pre-include="+implicitHeader)
		}
		declared = append(declared, missing...)
		request.Headers = maps.Clone(request.Headers)
		request.Headers[implicitHeader] = standardLines(declared)
	}
}

var unknownName = lazyregexp.New(`(?m): error: (?:identifier "(\w+)" is undefined|namespace "([\w:]+)" has no member "(\w+)")`)

// unknownNames are the names in a log that the compiler does not know, those of a
// namespace with it in front.
func unknownNames(log string) (names []string) {
	for _, m := range unknownName().FindAllStringSubmatch(log, -1) {
		name := m[1]
		if m[2] != "" {
			name = m[2] + "::" + m[3]
		}
		names = append(names, name)
	}
	return names
}

// ofStd matches a name of namespace std.
var ofStd = lazyregexp.New(`\bstd\s*::\s*(\w+)`)

// undeclared are the names of standard headers that the compiler did not know, and the
// functions of theirs that it left to others to define. Where it knows no namespace std,
// they are that and all names of it. Names that the source defines itself, later, are not
// among them.
func (s *source) undeclared(reply compiler.Reply) []string {
	names := append(unknownNames(reply.Log), undefinedFunctions(reply.PTX)...)
	if slices.Contains(names, "std") {
		for _, m := range ofStd().FindAllStringSubmatch(s.code, -1) {
			names = append(names, "std::"+m[1])
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !standardNames()[name] || s.defines(name) })
}

// defines reports whether the source defines a macro or a type of a name.
func (s *source) defines(name string) bool {
	return regexp.MustCompile(fmt.Sprintf(`#[ \t]*define[ \t]+%[1]s\b|\btypedef\b[^;{}]*\b%[1]s\s*;|\busing\s+%[1]s\s*=`, name)).MatchString(s.text)
}

var undefinedFunction = lazyregexp.New(`(?m)^\.extern \.func\s+(?:\([^()]*\)\s*)?([\w$]+)`)

// deviceFunctions are the functions that the driver defines, and the emulator with it.
var deviceFunctions = []string{"vprintf", "__assertfail", "malloc", "free"}

// undefinedFunctions are the functions that the PTX calls and leaves to others to define.
func undefinedFunctions(text string) (names []string) {
	for _, m := range undefinedFunction().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(deviceFunctions, m[1]) {
			names = append(names, ptx.Demangle(m[1]))
		}
	}
	return names
}

// undefined complains of functions that the source calls and that have no body.
func (s *source) undefined(text string) (diagnostics []Diagnostic) {
	for _, name := range undefinedFunctions(text) {
		name = name[strings.LastIndexByte(name, ':')+1:]
		at := max(0, s.wordAt(name))
		answer := "function %s has no body in the cell: expected its definition"
		if strings.HasPrefix(name, "__") {
			answer = "function %s: this compiler declares it and lacks its code: write its computation in the cell"
		}
		diagnostics = append(diagnostics, s.diagnostic(at, answer, name))
	}
	return diagnostics
}
