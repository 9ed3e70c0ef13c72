//go:build !amd64 && !arm64

package bytecode

// The engine executes all calls of compiled functions.
const intRegs, floatRegs = 0, 0
