// Package simd is the vector code of the emulator: operations on the 32 lanes of a warp
// in AVX2 and AVX-512 assembly, and in a module of WebAssembly beside a Go program there
// (folder simd128), loads and stores of known patterns among them, and portable twins of
// the moves and the shuffle.
//
// Its main type is Vectors, the instructions that the processor has. Package engine passes
// runs of Steps; a Step gives the same bits as the engine's Go code. A load or store names
// its Site, which holds the Patterns and the bytes that it may access. The package knows
// no PTX and no faults, and must not import emu.
package simd

//go:generate go -C simd128 run .
