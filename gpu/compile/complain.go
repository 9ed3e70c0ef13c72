package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/leaf/lazyregexp"
)

// complaint matches a message of NVRTC: a place, the error, the line, a caret.
var complaint = lazyregexp.New(`(?m)^([^\s(][^(\n]*)\((\d+)\): (catastrophic error|error|warning)(?: #(\d+)-\w)?: (.*)\n(?:  (.*)\n  ([ \t]*)\^)?`)

// complaints are the errors of a log, or its warnings if it has no error, each
// with a remedy.
func (s *source) complaints(name string, reply compiler.Reply) (list []Diagnostic) {
	for _, m := range complaint().FindAllStringSubmatch(reply.Log, -1) {
		file, kind, message := m[1], m[3], m[5]
		if file == nameMap || (kind == "warning") == (reply.Error != "") {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		d := Diagnostic{Line: line, Col: len(m[7]) + 1}
		missing := cannotOpen().FindStringSubmatch(message)
		switch {
		case file != name && kind == "warning": // of a header that is not the cell's
			continue
		case file != name:
			d = s.inHeader(file, line, message, reply.Release)
		case missing != nil:
			d = s.missingHeader(line, missing[1], reply.Release)
		default:
			if m[6] == "" { // NVRTC shows the place from 12.1 on
				d.Col = s.column(line, message)
			}
			d.Text = s.explain(line, message)
		}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return s.causes(list)
}

// nameMap is the file in which NVRTC places errors of name expressions.
const nameMap = "__nv_name_map"

var badOption = lazyregexp.New(`(?m)^nvrtc: error: (invalid value for --(gpu-architecture|std).*)$`)

// optionError returns an error in an option, nil if the options are valid.
func optionError(log string) error {
	if m := badOption().FindStringSubmatch(log); m != nil {
		return &OptionError{strings.Replace(m[2], "gpu-architecture", "arch", 1), "the compiler has no such value"}
	}
	for _, m := range complaint().FindAllStringSubmatch(log, -1) {
		if m[1] == nameMap {
			return &OptionError{"instantiate", m[5]}
		}
	}
	return nil
}

// causes removes consequences of an unknown type in the head of a kernel: all
// other complaints about that head and about the body after it.
func (s *source) causes(list []Diagnostic) []Diagnostic {
	for _, f := range s.functions {
		first, _ := s.place(f.start)
		head, _ := s.place(f.from)
		last, _ := s.place(f.to - 1)
		unknown := func(d Diagnostic) bool {
			return strings.HasPrefix(d.Text, `identifier "`) && strings.Contains(d.Text, "define it in the cell")
		}
		if !slices.ContainsFunc(list, func(d Diagnostic) bool { return unknown(d) && d.Line <= head }) {
			continue
		}
		list = slices.DeleteFunc(list, func(d Diagnostic) bool { return first <= d.Line && d.Line <= last && !unknown(d) })
	}
	return list
}

var inQuotes = lazyregexp.New(`"(\w+)"`)

// column is the column of the word that a message quotes, else of the beginning
// of the line.
func (s *source) column(line int, message string) int {
	text := strings.Split(s.text+strings.Repeat("\n", line), "\n")[max(0, line-1)]
	for _, m := range inQuotes().FindAllStringSubmatch(message, -1) {
		if at := regexp.MustCompile(`\b` + m[1] + `\b`).FindStringIndex(text); at != nil {
			return at[0] + 1
		}
	}
	return len(text) - len(strings.TrimLeft(text, " \t")) + 1
}

// explanation maps a compiler message to the change that is needed.
type explanation struct {
	pattern func() *regexp.Regexp
	explain func(s *source, line int, message string, found []string) string
}

var explanations = []explanation{
	{lazyregexp.New(`host functions are not allowed in JIT mode`), func(*source, int, string, []string) string {
		return "host function: write it in Go in a cell of its own, or __device__ before it if a kernel calls it"
	}},
	{lazyregexp.New(`^A namespace scope variable without memory space`), func(*source, int, string, []string) string {
		return "variable of the host: write it in Go in a cell of its own, or __device__ before it if a kernel uses it"
	}},
	{lazyregexp.New(`identifier "(\w+)" is undefined|name followed by "::" must|"(\w+)" is not a template|explicit instantiation`), explainName},
	{lazyregexp.New(`^expected a declaration`), func(_ *source, _ int, message string, _ []string) string {
		return message + ": statements stand in the body of a function: put __global__ void name(...) { } around them"
	}},
	{lazyregexp.New(`storage class is not specified|this declaration has no storage class or type specifier`), func(_ *source, _ int, message string, _ []string) string {
		return message + ": statements stand in the body of a function: put __global__ void name(...) { } around them"
	}},
}

// explain adds the remedy to a message of the compiler.
func (s *source) explain(line int, message string) string {
	for _, e := range explanations {
		if found := e.pattern().FindStringSubmatch(message); found != nil {
			return e.explain(s, line, message, found)
		}
	}
	return message
}

// wheels are the wheels with CUDA's headers.
func wheels(release string) string {
	if major, _, _ := strings.Cut(release, "."); major == "12" {
		// The runtime's headers are of the compiler's release, and crt, which mma.h includes,
		// is in nvcc's wheel. CCCL before 12.3 lacks headers without an ending, as cuda/std/array.
		return fmt.Sprintf("run pip install nvidia-cuda-runtime-cu12~=%[1]s.0 nvidia-cuda-nvcc-cu12~=%[1]s.0 nvidia-cuda-cccl-cu12~=12.9.0, or set WARPBOOK_NVRTC to a toolkit", release)
	}
	return "run pip install nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt, or set WARPBOOK_NVRTC to a toolkit"
}

// knownNames are names that need a header, by header.
var knownNames = map[string]string{
	"real": "define it in the cell: typedef float real;",
	"half": "#include <cuda_fp16.h>", "__half": "#include <cuda_fp16.h>", "half2": "#include <cuda_fp16.h>", "__half2": "#include <cuda_fp16.h>",
	"__nv_bfloat16": "#include <cuda_bf16.h>", "std": "device code has cuda::std: #include <cuda/std/cstdint> and the like",
	"cooperative_groups": "#include <cooperative_groups.h>", "cg": "#include <cooperative_groups.h> and namespace cg = cooperative_groups;",
	"thread_block": groups, "thread_group": groups, "thread_block_tile": groups, "this_thread_block": groups, "tiled_partition": groups,
	"uint8_t": "define it in the cell: typedef unsigned char uint8_t;", "int8_t": "define it in the cell: typedef signed char int8_t;",
	"uint32_t": "define it in the cell: typedef unsigned uint32_t;", "int32_t": "define it in the cell: typedef int int32_t;",
	"uint64_t": "define it in the cell: typedef unsigned long long uint64_t;", "int64_t": "define it in the cell: typedef long long int64_t;",
	"wmma": "#include <mma.h> and using namespace nvcuda;", "nvcuda": "#include <mma.h>",
	"u32": "define it in the cell: typedef unsigned u32;", "u64": "define it in the cell: typedef unsigned long long u64;",
	"__lanemask_lt": `ask for the register: unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));`,
	"FULL_MASK":     "define it in the cell: #define FULL_MASK 0xffffffff", "CHECK": "errors are Go's: delete it",
	"assert": "#define it, or call __trap()",
}

const groups = "#include <cooperative_groups.h> and using namespace cooperative_groups;"

// explainName names the header or the misspelling that an unknown name suggests.
func explainName(s *source, line int, message string, found []string) string {
	name := found[1]
	if name == "" {
		name = found[2]
	}
	answer, known := knownNames[name]
	switch {
	case name == "":
		return message
	case strings.Contains(s.line(line-1), "//") && strings.HasPrefix(s.line(line), name+" "):
		answer = "the comment of the line before seems to continue here: put // before it"
	case known:
	case name == strings.ToUpper(name) && strings.IndexFunc(name, unicode.IsLetter) >= 0:
		value := " 256"
		if strings.Contains(name, "TILE") { // a side of a square
			value = " 32"
		}
		answer = "define it in the cell: #define " + name + value
	default:
		near := s.nearest(name)
		if near == "" {
			return message + ": declare it in the cell"
		}
		answer = "nearest: " + near
	}
	return message + ": " + answer
}

var word = lazyregexp.New(`[A-Za-z_]\w*`)

// nearest is the word of the source that an unknown word probably means: a word with
// the same letters in another order, or one that begins with it; "" if none.
func (s *source) nearest(name string) string {
	for _, w := range word().FindAllString(s.code, -1) {
		if w != name && !builtinName[w] && (sorted(w) == sorted(name) || len(name) > 3 && strings.HasPrefix(w, name)) {
			return w
		}
	}
	return ""
}

var builtinName = map[string]bool{"blockIdx": true, "blockDim": true, "gridDim": true, "threadIdx": true, "warpSize": true}

func sorted(word string) string {
	letters := []byte(word)
	slices.Sort(letters)
	return string(letters)
}
