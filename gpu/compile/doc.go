// Package compile turns CUDA C++ or PTX that a cell of a notebook holds into
// entries that can be launched, looked at, and put into an operator's ladder.
//
// CUDA C++ is compiled by NVRTC in the program gpu/nvrtc, which is started for
// each source: a compiler that crashes or hangs costs nothing else. No GPU and
// no toolkit is needed. The package runs nothing itself: devices do, after On
// or Launch has loaded the PTX. Host code (main, <<<>>>, cudaMalloc) is not
// compiled; an error says what to write in Go in its place.
package compile
