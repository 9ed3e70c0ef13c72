// Package mem is the memory of the emulated device: an address space in which every
// allocation has a window of its own, the bytes of allocations with a bit for each byte
// that was written, and pages that separate the data of two workers.
//
// Its main type is Memory. Package emu allocates from it, and loads from and stores to
// the Contents of an Allocation. The package knows no instructions, no threads and no
// PTX, and must not import emu.
package mem
