// Package races is the searches for races of the emulator. Shared is that on the shared memory
// of a block, Global that on global memory within a block, between blocks, and, with Word,
// between launches. Package engine, which it must not import, tells them of reads, writes,
// atomics, barriers and fences, and decides as their Judge whether accesses that nothing orders
// are a race. A search knows warps, lanes, instructions and addresses by their numbers.
package races
