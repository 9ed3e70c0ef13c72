// Package emu is the emulator: a gpu.Device that runs PTX on the CPU, warp by warp, with
// AVX2, AVX-512 or, in a browser, SIMD128, and in portable Go where there is none of them.
// Results, faults and counters are the same. Package gpu/device opens it by name; the operators'
// tests and the cells program use it through gpu.Device. It must not import ops or
// kernel.
//
// This package is the device: streams, events, graphs, buffers, modules, arrays, objects
// and models of GPUs. All streams are one queue, and a call that submits work returns when
// the work has run. Package engine lowers and runs launches; it must not import this one.
//
// The emulator is functionally exact, counts what NVIDIA's profiler counts, and checks
// every access: a bound, an alignment, a freed buffer, a word or register that was never
// written, a barrier that not all threads can reach are faults that name the thread and
// the line, never zeros. A launch may turn checks off (gpu.Checks defines the accesses
// then); no access leaves the memory of the launch. mbarriers, whole-warp operations and
// calls are always checked.
//
// With gpu.CheckRaces a launch is searched for races on shared memory, and with
// gpu.CheckBlockRaces for races on global memory. The same searches find races between
// launches in different streams that no event and no wait of the host orders; the default
// stream is one of them, as on a GPU through package gpu. The program for browsers lacks
// this search. A launch with a gpu.Profile is counted instruction by instruction. A defect
// that ends no launch on a GPU, such as a division by zero, is a warning.
//
// Blocks that wait for each other make progress, as many as the GPU would have resident
// at once. With Device.LimitWorkers(1) a launch is deterministic: its blocks and warps
// take turns in one order, counted in instructions, and give the same bits each time.
//
// The emulator rejects instructions that it does not support, with their name and line
// and before anything runs: tcgen05, video instructions but vabsdiff2 and vabsdiff4 of
// whole registers, products of 1-bit and 4-bit integers, im2col::w, registers of 128
// bits, and launches that count clusters in place of blocks (.blocksareclusters).
//
// Output of kernels goes to os.Stdout when the launch has ended, block by block; within
// a block in the order in which its warps ran, lane by lane.
//
// If the PTX manual leaves a result open, it is the result of an H200: division by zero,
// NaN, shifts and fields past the register, the rounding of tensor cores. Package
// programs holds 550 programs whose results are those of an H200 or H100 bit for bit.
// These differ:
//
//   - A texture that is filtered in three directions has exact weights; an H100 rounds
//     their products. A sum of four texels may differ from an H100's in the last place.
//   - A .approx function gives the correctly rounded result, which lies within
//     the manual's bound of the exact one. Over all floats, an H200 differs from
//     it by at most 1 ulp for rcp and sqrt, 2 ulp for rsqrt, ex2, div.approx and
//     div.full, 2 ulp or 2.2e-7 for lg2, 8e-6 for tanh, 3.5e-7 for sin and 4.1e-7
//     for cos between -pi and pi, 3.7e-5 between -100 pi and 100 pi
//     (testdata/approximate.cu). Beyond, sin and cos do not agree.
//   - shfl from an inactive lane gives all ones. A use of such a value is a fault.
//   - The order of float atomics is the order in which blocks run, as on a GPU.
//   - A barrier waits for the threads that have not exited. One with a thread count
//     waits for that many, and is a fault if they can no longer arrive. A barrier that
//     completes without exited threads is a fault, unless whole warps have exited, or
//     the remaining threads are a box of the block, as after a bounds check. Warps may
//     wait for a barrier at different instructions, as a GPU allows; lanes of a warp
//     may not.
//
// A register that was never written may be copied, selected, shuffled and packed, and passed
// to a function; any other use is a fault. Each half of a 32-bit register is followed, through
// operations that take each half alone. A load of bytes that were never written is no fault if
// they are only copied, because copies of structs include their padding: it is one if such a
// bit reaches arithmetic, an address or a comparison, or if a number of such bits is stored in
// global memory. A load of a word of which no byte was written is a fault at once, unless its
// value is only stored, maybe in local memory, or is part of writing a bit field.
package emu
