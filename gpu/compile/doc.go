// Package compile turns CUDA C++ or PTX that a cell of a notebook holds into
// entries that can be launched, looked at, and put into an operator's ladder.
//
// CUDA and PTX return a Module, whose Entry values can be launched. The %%cuda
// and %%ptx cells of a notebook call them. NVRTC compiles CUDA C++ in the program
// gpu/nvrtc, or else clang does (package gpu/clang). Either is started for each source,
// so a compiler that crashes or hangs affects nothing else. No GPU and no toolkit is needed. The package runs nothing
// itself: a device does, after On or Launch has loaded the PTX. Host code (main,
// <<<>>>, cudaMalloc) is not compiled; an error names the Go code to write instead.
//
// Cells are written for nvcc, which finds the headers of its host. standard.go gives
// NVRTC the headers of C and C++ that device code uses, and names.go has a remedy for each
// other name. Each remedy is applied by TestAdvice.
package compile
