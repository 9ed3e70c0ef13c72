// Package arith computes instructions in one lane: integers, bits,
// floats with their roundings, conversions between types, and the sums of
// tensor cores, bit for bit as a GPU gives them.
//
// Its main type is Row, an instruction that computes its result from its
// operands; Rows has them all by name, Conversion is cvt, and TensorCore the
// arithmetic of mma. The engine looks them up when it lowers an entry. Nothing
// here knows warps, registers or memory.
package arith
