// Package gpumagic holds the magics that need package gpu: cells in CUDA C++ and PTX,
// and NVIDIA's profiler and sanitizer. Its main value is All. The cells program passes
// it to the engine, which must import neither gpu nor ops.
package gpumagic

import "warpbook/kernel/engine/magic"

// All lists the magics in the order of %help.
func All() []*magic.Magic { return []*magic.Magic{cuda, ptx, ncu, sanitize} }
