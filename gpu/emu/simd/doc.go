// Package simd is the vector code of the emulator: operations on the 32 lanes of
// a warp in AVX2 and AVX-512 assembly, moves between lanes and memory, and the
// shuffle with its portable twin.
//
// Its main type is Vectors, the instructions that the processor has. The engine
// gives it straight runs of Steps; what a Step computes is what the engine's Go
// code computes, bit for bit. It knows no PTX, no memory spaces and no faults.
package simd
