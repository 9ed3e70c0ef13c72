package simd

import "golang.org/x/sys/cpu"

// Best is the vector instructions of this processor.
var Best = func() Vectors {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
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
