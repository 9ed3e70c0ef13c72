package bytecode

// Registers for arguments of the calling convention of Go, as in internal/abi.
const intRegs, floatRegs = 16, 16
