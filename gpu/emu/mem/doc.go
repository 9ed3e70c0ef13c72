// Package mem is the memory of the emulated device: an address space in which
// every allocation has a window of its own, the bytes of allocations with a bit
// for each byte that was written, and pages that keep what two workers write
// apart.
//
// Its main type is Memory. The device allocates from it, and the engine loads
// from and stores to the Contents of an Allocation. It knows no instructions,
// no threads and no PTX.
package mem
