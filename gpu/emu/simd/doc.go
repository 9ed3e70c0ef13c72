// Package simd is the vector code of the emulator: operations on the 32 lanes of a warp
// in AVX2 and AVX-512 assembly, moves between lanes and memory, and the shuffle with its
// portable twin.
//
// Its main type is Vectors, the instructions that the processor has. Package emu passes
// straight runs of Steps; a Step gives the same bits as emu's Go code. The package knows
// no PTX, no memory spaces and no faults, and must not import emu.
package simd
