// Package ir reads the text of LLVM's intermediate code, as clang prints it for nvptx64,
// into modules of functions, blocks and values. It accepts what clang emits for CUDA C++,
// and names the line and the word of anything else. It knows no PTX: package lower, its
// caller, does.
package ir
