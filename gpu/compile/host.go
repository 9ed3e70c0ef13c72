package compile

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// construct is host code that a notebook writes in Go.
type construct struct {
	pattern  func() *regexp.Regexp
	answer   string
	hostOnly bool // device code may have it too: it counts in a host function only
}

// constructs are searched for in this order. Each is answered once, at its first
// place.
var constructs = []construct{
	{lazyregexp.New(`\bcudaMalloc\w*\s*\(`), "cudaMalloc: in a Go cell: x, err := dev.Alloc(gpu.Float32, n)", false},
	{lazyregexp.New(`\bcudaMemcpyToSymbol\w*\s*\(`), "cudaMemcpyToSymbol: in a Go cell: module.Global(name), then Upload(slice)", false},
	{lazyregexp.New(`\bcudaMemcpy(?:Async|2D|3D)?\s*\(`), "cudaMemcpy: in a Go cell: x.Upload(slice) to the device, x.Download(slice) back", false},
	{lazyregexp.New(`\bcudaMemset\w*\s*\(`), "cudaMemset: in a Go cell: dev.Zero(x)", false},
	{lazyregexp.New(`\bcudaFree\w*\s*\(`), "cudaFree: in a Go cell: x.Free()", false},
	{lazyregexp.New(`\bcuda(?:Device|Stream|Thread)Synchronize\s*\(`), "synchronisation: in a Go cell: dev.Sync(), which Launch has done already", false},
	{lazyregexp.New(`\bcudaEvent\w*`), "events: in a Go cell: dev.Time(gpu.Timing{Repeats: 50}, launch), or bench.Time() of an operator", false},
	{lazyregexp.New(`\bcudaGetDeviceProperties\s*\(|\bcudaDeviceProp\b`), "device properties: in a Go cell: dev.Info()", false},
	{lazyregexp.New(`\bcudaSetDevice\s*\(`), "cudaSetDevice: in a Go cell: dev := device.MustOpen(\"cuda:1\")", false},
	{lazyregexp.New(`\bcudaGetSymbolAddress\s*\(`), "cudaGetSymbolAddress: in a Go cell: module.Global(name)", false},
	{lazyregexp.New(`\bcuda(?:GetLastError|PeekAtLastError|GetErrorString|Error_t)\b`), "CUDA errors: in a Go cell every call returns an error", false},
	{lazyregexp.New(`\bcublas\w*`), "cuBLAS is a host library: not offered to cells", false},
	{lazyregexp.New(`\bstd::(?:cout|cerr)\b|\bcout\s*<<`), "std::cout: in a Go cell: fmt.Println(x)", false},
	{lazyregexp.New(`\bstd::vector\b`), "std::vector: in a Go cell: a slice, make([]float32, n)", false},
	{lazyregexp.New(`\bprintf\s*\(`), "printf on the host: in a Go cell: fmt.Printf(...); in a kernel printf is right as it is", true},
	{lazyregexp.New(`\bmalloc\s*\(|\bnew\b`), "host memory: in a Go cell: a slice, make([]float32, n)", true},
	{lazyregexp.New(`\bfree\s*\(|\bdelete\b`), "host memory: a Go slice is not freed", true},
}

// host answers host code with the Go code to write: for a kernel launch, each call
// of the CUDA runtime, and each host function.
func (s *source) host() (diagnostics []Diagnostic) {
	launches := s.launches()
	diagnostics = append(diagnostics, launches...)
	for _, c := range constructs {
		for _, at := range c.pattern().FindAllStringIndex(s.code, -1) {
			f := s.in(at[0])
			if inKernel := f != nil && !f.host(); inKernel || c.hostOnly && f == nil {
				continue
			}
			diagnostics = append(diagnostics, s.diagnostic(at[0], "%s", c.answer))
			break
		}
	}
	if at := misspelt().FindStringIndex(s.code); at != nil {
		return []Diagnostic{s.diagnostic(at[0], "%s: did you mean __global__?", strings.Fields(s.code[at[0]:at[1]])[0])}
	}
	for _, f := range s.functions {
		if f.name == "main" {
			diagnostics = append(diagnostics, s.diagnostic(f.at, "host code: the cells of the notebook are its main, delete the function"))
		} else if f.host() {
			diagnostics = append(diagnostics, s.diagnostic(f.at, "%s", hostFunction(f.name)))
		}
	}
	diagnostics = append(diagnostics, s.hostHeaders()...)
	slices.SortStableFunc(diagnostics, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return diagnostics
}

func hostFunction(name string) string {
	return fmt.Sprintf("host function %s: write it in Go in a cell of its own, or __device__ before it if a kernel calls it", name)
}

// triple matches a launch, as some editors space it too.
var triple = lazyregexp.New(`([A-Za-z_]\w*)\s*(<[^<>;{}]*>)?\s*<\s*<\s*<([^;{}]*?)>\s*>\s*>\s*(\()?`)

// launches answers every <<<>>> with its call in Go. A kernel cannot launch another.
func (s *source) launches() (diagnostics []Diagnostic) {
	for _, m := range triple().FindAllStringSubmatchIndex(s.code, -1) {
		answer := "a launch stands in a Go cell: "
		if f := s.in(m[2]); f != nil && !f.host() {
			answer = "a kernel launches no kernel here, dynamic parallelism is not supported: launch it after this kernel, in a Go cell: "
		}
		diagnostics = append(diagnostics, s.diagnostic(m[2], "%s", answer+s.launch(m)))
	}
	return diagnostics
}

// launch is a match of triple in Go.
func (s *source) launch(m []int) string {
	name, template := s.code[m[2]:m[3]], ""
	if m[4] >= 0 {
		template = s.constants(s.code[m[4]:m[5]])
	}
	var args []string
	if m[8] >= 0 {
		end := matching(s.code, m[8])
		args = fields(s.text[m[9]:max(m[9], end-1)])
	}
	return goLaunch(identifier(name+template), fields(s.text[m[6]:m[7]]), args)
}

// constants replaces names of constants by their numbers.
func (s *source) constants(args string) string {
	return word().ReplaceAllStringFunc(args, func(name string) string {
		m := regexp.MustCompile(`\b` + name + `\s*=\s*(\d+)\b|#define\s+` + name + `\s+(\d+)\b`).FindStringSubmatch(s.text)
		if m == nil {
			return name
		}
		return m[1] + m[2]
	})
}

func fields(list string) (parts []string) {
	for _, p := range splitTop(list) {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// goLaunch is a launch in Go. The expressions are still those of C.
func goLaunch(name string, shape, args []string) string {
	for len(shape) < 2 {
		shape = append(shape, "...")
	}
	list := strings.Join(append([]string{goDim(shape[0]), goDim(shape[1])}, args...), ", ")
	call := name + ".Launch(dev, " + list + ")"
	if len(shape) > 2 && shape[2] != "0" {
		call = fmt.Sprintf("%s.Run(dev, gpu.Launch{Grid: %s, Block: %s, Shared: %s, Args: []any{%s}})",
			name, goDim(shape[0]), goDim(shape[1]), shape[2], strings.Join(args, ", "))
	}
	return call
}

var dim3 = lazyregexp.New(`^dim3\s*\((.*)\)$`)

// goDim is a number of blocks or threads, or a dim3, in Go.
func goDim(expression string) string {
	axes := []string{expression}
	if m := dim3().FindStringSubmatch(expression); m != nil {
		axes = fields(m[1])
	}
	var parts []string
	for i, a := range axes[:min(3, len(axes))] {
		parts = append(parts, "XYZ"[i:i+1]+": "+a)
	}
	return "gpu.Dim{" + strings.Join(parts, ", ") + "}"
}

var included = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]`)

// headerAnswers are the remedies for headers that only a host has.
var headerAnswers = map[string]string{
	"bits/stdc++.h": "the whole standard library of the host", "iostream": "in a Go cell: fmt.Println(x)",

	"vector": "in a Go cell: a slice", "string": "in a Go cell: string", "chrono": "in a Go cell: dev.Time, or bench.Time of an operator",
	"iomanip": "in a Go cell: fmt.Printf", "random": "in a Go cell: math/rand/v2", "fstream": "in a Go cell: os.Open",

	"time.h": "in a Go cell: package time", "ctime": "in a Go cell: package time", "windows.h": "host code",
	"cublas_v2.h": "a host library, not offered to cells",
	"cuda.h":      "the driver's interface, host code", "cuda_runtime_api.h": "host code",
}

// cudaHeaders are those that the wheels hold or that the compiler has built in.
var cudaHeaders = lazyregexp.New(`^(?:cuda_(?:runtime|fp16|bf16|fp8|pipeline\w*)\.h|cooperative_groups\S*|cuda/.*|cub/.*|thrust/.*|mma\.h|crt/.*|device_launch_parameters\.h|math_constants\.h|vector_types\.h|cuComplex\.h)$`)

func (s *source) hostHeaders() (diagnostics []Diagnostic) {
	text := blankComments(s.text)
	for _, m := range included().FindAllStringSubmatchIndex(text, -1) {
		name := text[m[4]:m[5]]
		answer, host := headerAnswers[name]
		switch {
		case host:
		case (text[m[2]:m[3]] == `"` || path.IsAbs(name)) && !cudaHeaders().MatchString(name):
			if s.finds(name) {
				continue
			}
			answer = "a cell is one source: put what you need of it into the cell"
			if len(s.folders) > 0 {
				answer = fmt.Sprintf("there is no such file in %s: put what you need of it into the cell, or write the file", strings.Join(s.folders, ", "))
			}
		default:
			continue
		}
		diagnostics = append(diagnostics, s.diagnostic(m[4], "header %s: delete the line: %s", name, answer))
	}
	return diagnostics
}

// finds reports whether a header is a file in one of the source's folders.
func (s *source) finds(name string) bool {
	return !path.IsAbs(name) && slices.ContainsFunc(s.folders, func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular()
	})
}

var comments = lazyregexp.New(`(?s)//[^\n]*|/\*.*?(\*/|$)`)

func blankComments(text string) string { return comments().ReplaceAllStringFunc(text, spaces) }
