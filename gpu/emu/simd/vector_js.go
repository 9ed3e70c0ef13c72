//go:build simd128

package simd

import (
	_ "embed" // of the module
	"syscall/js"
	"unsafe"
)

// The Go compiler has no vector instructions for WebAssembly. A module of its own, which
// shares the program's memory, runs the steps. The program carries the module, and the page
// that starts the program makes an instance of it: the build tag simd128 says that the page
// does so, because a program with the import starts in no other one. See
// kernel/lite/vectors.js.
//
//go:embed simd128/steps.wasm
var module []byte

// Best is portable Go where the browser has no vectors.
var Best = func() Vectors {
	bytes := js.Global().Get("Uint8Array").New(len(module))
	js.CopyBytesToJS(bytes, module)
	if js.Global().Call("warpbookVectors", bytes).Bool() {
		return SIMD128
	}
	return NoVectors
}()

//go:wasmimport warpbook run
//go:noescape
func run(r unsafe.Pointer)

// Run runs the steps. r.N is the number of steps that are left; Go has to run the first of
// them.
func (v Vectors) Run(r *Run) { run(unsafe.Pointer(r)) }

func (Vectors) Shuffle(d, a, b, c *[32]uint32, m uint32, mode uint8) (valid uint32) {
	return shuffleLanes(d, a, b, c, m, mode)
}

// Prefetch does nothing: WebAssembly has no instruction for it.
func Prefetch(at, bytes uintptr) {}
