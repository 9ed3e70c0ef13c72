//go:build !amd64 && !arm64

package bytecode

// The engine executes all calls of compiled functions.
const hasRegisters, intRegs, floatRegs = false, 9, 15
