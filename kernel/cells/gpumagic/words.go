package gpumagic

import (
	"strings"

	"warpbook/gpu/compile"
	"warpbook/kernel/engine/magic"
)

// cudaWords are the names that a cell in CUDA C++ can use after a prefix, such as
// "threadIdx." or "".
func cudaWords(body, before string) (words []magic.Word) {
	if of, ok := strings.CutSuffix(before, "."); ok {
		return members(of)
	}
	for _, b := range compile.Words(body) {
		w := magic.Word{Name: b.Name, Kind: "variable", Declaration: b.Declaration, Short: b.Short}
		if strings.HasSuffix(b.Declaration, ")") {
			w.Kind = "function"
		}
		if b.Header != "" {
			w.Short += " It needs #include <" + b.Header + ">."
		}
		words = append(words, w)
	}
	return words
}

// members are the axes of an index or a size.
func members(of string) (words []magic.Word) {
	b, ok := compile.FindBuiltin(of)
	if !ok || !strings.HasPrefix(b.Declaration, "uint3 ") && !strings.HasPrefix(b.Declaration, "dim3 ") {
		return nil
	}
	for _, axis := range []string{"x", "y", "z"} {
		words = append(words, magic.Word{Name: axis, Kind: "field", Declaration: "unsigned " + of + "." + axis, Short: b.Short})
	}
	return words
}
