// Package matrix is the matrix unit of the emulator: tiles of matrices in the registers of
// a warp, and the products of mma, wmma and wgmma. Its main type is Unit, of which each
// block has one. Package engine uses it: the engine lowers the instructions, checks the
// accesses to memory and reports faults. A register file is the address of its first slot;
// a slot is an offset in bytes to 32 values, as in package engine, which matrix must not
// import.
package matrix
