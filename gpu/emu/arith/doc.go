// Package arith computes instructions in one lane: integers, bits, floats with their
// roundings, conversions between types, and the sums of tensor cores, bit for bit as a
// GPU does.
//
// Its main type is Row, an instruction that computes its result from its operands. Rows
// holds them by name, Conversion is cvt, and TensorCore is the arithmetic of mma.
// Package emu looks them up when it lowers an entry. The package knows no warps,
// registers or memory, and must not import emu.
package arith
