// Package emu is the emulator: a gpu.Device that runs PTX on the CPU, warp by
// warp, with AVX2 or AVX-512 where the processor has them and in portable Go
// elsewhere: results, faults and counters are the same.
//
// It is functionally exact, counts what NVIDIA's profiler counts, and checks
// every access: a bound, an alignment, a freed buffer, a word or register that
// was never written, a barrier that not all threads can reach are faults that
// name the thread and the line, never zeros. A launch may leave checks out
// (gpu.Checks says what its accesses do then); none leaves its memory.
// mbarriers, whole-warp operations and calls are checked always.
//
// How an entry gets from text to results: inline.go puts device functions into
// the entry, cfg.go orders its blocks, lower.go and the table_*.go turn each
// instruction into one that works on 32 lanes at a time, registers.go gives
// registers their slots, vector.go the simple instructions their assembly;
// schedule.go then runs the warps of a block, launch.go
// the blocks of a grid on all processors.
//
// A launch that asks for it (gpu.CheckRaces) is searched for races on shared
// memory: race.go says how and what it leaves out. One that asks for
// gpu.CheckBlockRaces is searched for races between its blocks on global memory
// (global_race.go).
//
// What is wrong and ends no launch on a GPU, such as a division by zero, is a
// warning (warning.go). An access must stay in the buffer that its address starts
// from (provenance.go), if that is one parameter; not one of a view.
//
// A launch with a gpu.Profile is counted instruction by instruction (profile.go).
//
// Blocks that wait for each other make progress, as many as the GPU would have
// resident at once (residency.go). With Device.LimitWorkers(1) a launch is
// deterministic: its blocks and warps take turns in one order, counted in
// instructions, and give the same bits each time.
//
// What it does not do: it refuses, with the name and line of the instruction
// and before anything runs, what it has no row for: textures, tcgen05, reductions
// and im2col of the copy engine, wgmma of other types than f16, bf16 and tf32,
// clusters that only a launch could give, video instructions, 128-bit registers,
// the heap and recursion.
//
// Of Hopper's asynchronous instructions it runs one order of those that a GPU may
// have. A copy into shared memory ends when a thread looks at its mbarrier, a copy
// out of it runs at once, and each warp multiplies its rows when it comes to
// wgmma.mma_async. So it finds a read of a tile without a wait, a source that is
// written before the wait for its group and, with the search for races, a missing
// fence.proxy.async; it does not look for registers of wgmma that are touched
// before the wait.
// What the copy engine moves is in no counter. Tensor maps have bytes of the
// emulator's own.
//
// What kernels print goes to os.Stdout when the launch has ended, block by
// block; within a block in the order in which its warps ran, lane by lane.
//
// Where the PTX manual leaves a result open, it is what an H200 gives: division
// by zero, NaN, shifts and fields past the register, the rounding of tensor
// cores. Package programs holds 454 programs whose results are those of an H200
// bit for bit. These differ:
//
//   - A .approx function gives the correctly rounded result, which lies within
//     the manual's bound of the exact one. Over all floats, an H200 differs from
//     it by at most 1 ulp for rcp and sqrt, 2 ulp for rsqrt, ex2, div.approx and
//     div.full, 2 ulp or 2.2e-7 for lg2, 8e-6 for tanh, 3.5e-7 for sin and 4.1e-7
//     for cos between -pi and pi, 3.7e-5 between -100 pi and 100 pi
//     (testdata/approximate.cu). Beyond, sin and cos do not agree.
//   - shfl from a lane that does not take part gives all ones. Where such a
//     value is used is a fault (undefined.go).
//   - The order of float atomics is that in which blocks run, as on a GPU.
//   - A barrier waits for the threads that have not exited. One that says how
//     many threads it takes waits for that many, and is a fault if they cannot
//     come any more. One that goes on without threads that have exited is a fault,
//     unless whole warps have, or those that have not are a box of the block, as
//     after a bounds check. Warps may wait for one at different instructions, as a GPU
//     lets them; lanes of a warp may not.
//
// A register that was never written may be copied, selected, shuffled and
// packed; any other use is a fault. A load from local memory is a fault only if
// none of its bytes was written, because copies of structs move their padding;
// and not if its value is only copied within local memory, or a bit field of it
// is written.
package emu
