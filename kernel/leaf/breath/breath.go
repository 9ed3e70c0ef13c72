//go:build !js

// Package breath lets the events of a page in while long work runs in a browser: js has
// one thread, and an interrupt, a timer or a request is seen only when all goroutines
// wait. Loops of cells and of the emulator call Poll; elsewhere it does nothing. It
// imports no package of this module.
package breath

// Poll is called at each iteration of a loop that may run long.
func Poll() {}
