package simd

import (
	"os"

	"golang.org/x/sys/cpu"
)

// Best is the vector instructions of this processor. The code of AVX-512 has changed since
// it last ran on a processor that has it, so that it is used only where WARPBOOK_AVX512=1
// asks for it. In an emulator of such a processor two operations and a square root, whose
// code is older, gave other results.
var Best = func() Vectors {
	switch {
	case os.Getenv("WARPBOOK_AVX512") == "1" && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		return AVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return AVX2
	}
	return NoVectors
}()

// Run runs the steps. r.N is the number of steps that are left; these instructions do
// not support the first of them.
func (v Vectors) Run(r *Run) {
	if v == AVX512 {
		runAVX512(r)
	} else {
		runAVX2(r)
	}
}

//go:noescape
func runAVX512(r *Run)

//go:noescape
func runAVX2(r *Run)
