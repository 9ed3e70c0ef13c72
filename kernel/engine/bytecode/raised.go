package bytecode

import "warpbook/kernel/leaf/breath"

// raised reads the interrupt flag. It runs at each iteration of a loop.
//
//go:norace
func raised(flag *int32) bool {
	breath.Poll()
	return *flag != 0
}
