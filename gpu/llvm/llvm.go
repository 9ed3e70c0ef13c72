// Package llvm makes PTX of LLVM's intermediate code, as clang -emit-llvm prints it for
// nvptx64. It is the back end where clang has none: in a browser, whose clang stops at
// intermediate code. Package ir reads the text, lower chooses instructions, machine prints
// them. PTX is its only function; it runs nothing and reads no file.
package llvm

import (
	"fmt"
	"strconv"
	"strings"

	"warpbook/gpu/llvm/ir"
	"warpbook/gpu/llvm/lower"
)

// Options are what the intermediate code does not say.
type Options struct {
	Target  string // "sm_75", "sm_90a"
	Version string // of PTX: "6.3"
	Fast    bool   // approximate division and square roots of floats
}

// PTX returns the PTX of a module of intermediate code. Errors have one line: code that is
// not supported is named, with its line of the source. A mistake of this package is an error,
// too, because a panic would end the compiler of a browser tab.
func PTX(text string, o Options) (ptx string, err error) {
	defer func() {
		if r := recover(); r != nil {
			ptx, err = "", fmt.Errorf("llvm: mistake of warpbook's back end: %v", r)
		}
	}()
	m, err := ir.Parse(text)
	if err != nil {
		return "", err
	}
	arch, _ := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(o.Target, "sm_"), "af")) // 0 has no instruction of a later one
	return lower.PTX(m, lower.Options{Arch: arch, Target: o.Target, Version: o.Version, Fast: o.Fast})
}
