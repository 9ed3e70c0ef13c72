package compile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// inclusion is an #include of a source.
type inclusion struct {
	header string
	at     int // of the name
}

func (s *source) inclusions() (list []inclusion) {
	for _, m := range included().FindAllStringSubmatchIndex(blankComments(s.text), -1) {
		list = append(list, inclusion{s.text[m[4]:m[5]], m[4]})
	}
	return list
}

// library is the folder of a header, "cub" of cub/cub.cuh, or else its name without
// the ending.
func library(header string) string {
	first, _, _ := strings.Cut(header, "/")
	return strings.TrimSuffix(first, path.Ext(first))
}

// family are libraries that include each other.
var family = []string{"cub", "thrust", "cuda", "nv"}

// through is the #include that most likely brought in a file: one with its name,
// of its library, or of a library that includes its library; else the first.
func (s *source) through(file string) inclusion {
	list := s.inclusions()
	if len(list) == 0 { // by the compiler itself
		return inclusion{}
	}
	parts := strings.Split(file, "/")
	related := func(in inclusion) bool {
		return slices.Contains(family, library(in.header)) && slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(family, p) })
	}
	for _, fits := range []func(inclusion) bool{
		func(in inclusion) bool { return strings.HasSuffix(file, "/"+in.header) },
		func(in inclusion) bool {
			return slices.ContainsFunc(parts, func(p string) bool { return strings.TrimSuffix(p, path.Ext(p)) == library(in.header) })
		},
		related,
	} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return list[i]
		}
	}
	return list[0]
}

var cannotOpen = lazyregexp.New(`^(?:cannot|could not) open source file "(.*?)"`)

// endlessHeaders matches what NVRTC and clang say of headers that include each other.
var endlessHeaders = lazyregexp.New(`^#include file ".*" includes itself|^#include nested too deeply`)

// inHeader is a complaint about a line of a header, placed at the #include that
// brought the header in.
func (s *source) inHeader(file string, line int, message, release string) Diagnostic {
	in := s.through(file)
	text := fmt.Sprintf("in header %s, line %d: %s", path.Base(file), line, message)
	missing := cannotOpen().FindStringSubmatch(message)
	switch {
	case endlessHeaders().MatchString(message):
		return s.diagnostic(in.at, "in header %s, line %d: headers that include each other without an end: write #pragma once on the first line of each", path.Base(file), line)
	case library(in.header) == "thrust":
		text += ": thrust is host code: write a kernel, or call an operator of package ops in a Go cell"
	case in.header == "cub/cub.cuh" || strings.HasPrefix(in.header, "cub/device/"):
		text += ": this header has host code: include the part for kernels, such as <cub/block/block_reduce.cuh>"
	case missing != nil && cudaHeaders().MatchString(missing[1]):
		text += ": " + wheels(release)
	case missing != nil && library(in.header) == "cub":
		text += ": this CUB needs the C++ library of the host, that of CUDA 13 does not: run pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt"
	case missing != nil:
		text += ": the C++ library of the host is not there: device code has cuda::std"
	}
	return s.diagnostic(in.at, "%s", text)
}

// missingHeader is a complaint about a header that a line of the cell includes.
func (s *source) missingHeader(line int, header, release string) Diagnostic {
	text := "header " + header + " is not there: "
	switch {
	case cudaHeaders().MatchString(header):
		text += wheels(release)
	case strings.HasPrefix(header, "curand"):
		text += "run pip install nvidia-curand" + suffix(release) + " into the folder of the other wheels"
	default:
		text += "only headers of CUDA, of C, and those of C++ that work on a device are there, a cell is one source"
	}
	for _, in := range s.inclusions() {
		if l, _ := s.place(in.at); l == line {
			return s.diagnostic(in.at, "%s", text)
		}
	}
	return Diagnostic{line, 1, text}
}

// wheels are the wheels with CUDA's headers.
func wheels(release string) string {
	if strings.HasPrefix(release, llvm) {
		return "warpbook's headers for clang lack it: NVRTC has it, see warpbook doctor"
	}
	const last = ", or set WARPBOOK_NVRTC to a toolkit"
	if suffix(release) == "" {
		return "run pip install nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt" + last
	}
	// The runtime's headers are of the compiler's release, and crt, which mma.h includes,
	// is in nvcc's wheel. CCCL before 12.3 lacks headers without an ending, as cuda/std/array.
	return fmt.Sprintf("run pip install nvidia-cuda-runtime-cu12~=%[1]s.0 nvidia-cuda-nvcc-cu12~=%[1]s.0 nvidia-cuda-cccl-cu12~=12.9.0"+last, release)
}

// suffix ends the names of a release's wheels.
func suffix(release string) string {
	if strings.HasPrefix(release, "12.") {
		return "-cu12"
	}
	return ""
}
