package clang

import (
	"context"
	"strings"

	"warpbook/kernel/leaf/lazyregexp"
)

// The front end has no attribute for the size of a cluster that reaches PTX. The header's
// __cluster_dims__ is an annotation. For architectures with clusters the compiler runs in
// two steps: the intermediate code gets the attribute that the back end knows.

// clustered reports whether the flags name an architecture with clusters.
func clustered(flags []string) bool {
	for _, f := range flags {
		if arch, ok := strings.CutPrefix(f, "--cuda-gpu-arch=sm_"); ok {
			return len(strings.TrimRight(arch, "af")) > 2 || arch >= "90"
		}
	}
	return false
}

// runClustered compiles a source to PTX by way of intermediate code.
func (c *Compiler) runClustered(ctx context.Context, source string, flags []string) (out, log string, err error) {
	code, log, err := c.run(ctx, source, append(flags, "-emit-llvm"))
	if err != nil {
		return "", log, err
	}
	out, more, err := c.run(ctx, withClusters(code), backEnd(flags))
	return out, log + more, err
}

// backEnd are the flags that make PTX of optimised intermediate code.
func backEnd(flags []string) []string {
	list := []string{"-cc1", "-triple", "nvptx64-nvidia-cuda", "-x", "ir", "-S", "-disable-llvm-passes", "-fno-dwarf-directory-asm"}
	for i, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		switch {
		case name == "--cuda-gpu-arch":
			list = append(list, "-target-cpu", value)
		case name == "--cuda-feature":
			list = append(list, "-target-feature", value)
		case f == "-mllvm" && i+1 < len(flags):
			list = append(list, f, flags[i+1])
		case f == "-O2" || f == "-O0":
			list = append(list, f)
		}
	}
	return list
}

var (
	arguments = lazyregexp.New(`(?m)^(@\.args[\w.]*) = .*? constant \{[^}]*\} \{ (i\d+ \d+(?:, i\d+ \d+){0,2}) \}, section "llvm\.metadata"`)
	integer   = lazyregexp.New(`i\d+ (\d+)`)
	annotated = lazyregexp.New(`\{ ptr @([\w.$]+), ptr @[\w.]+, ptr @[\w.]+, i32 \d+, ptr (@\.args[\w.]*) \}`)
	defined   = lazyregexp.New(`(?m)^(define .*?@([\w.$]+)\(.*\)[^#\n]*?)( #\d)`)
)

// withClusters gives the kernels of annotations the attribute of the back end.
func withClusters(code string) string {
	sizes := map[string]string{} // by the annotation's arguments
	for _, m := range arguments().FindAllStringSubmatch(code, -1) {
		size := []string{"1", "1", "1"}
		for i, n := range integer().FindAllStringSubmatch(m[2], 3) {
			size[i] = n[1]
		}
		sizes[m[1]] = strings.Join(size, ",")
	}
	of := map[string]string{} // by kernel
	for _, m := range annotated().FindAllStringSubmatch(code, -1) {
		of[m[1]] = sizes[m[2]]
	}
	return defined().ReplaceAllStringFunc(code, func(head string) string {
		m := defined().FindStringSubmatch(head)
		if of[m[2]] == "" {
			return head
		}
		return m[1] + ` "nvvm.cluster_dim"="` + of[m[2]] + `"` + m[3]
	})
}
