package bytecode

// Registers for arguments of the calling convention of Go, as in internal/abi.
const hasRegisters, intRegs, floatRegs = true, 9, 15
