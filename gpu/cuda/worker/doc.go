// Command worker holds a CUDA context for gpu/cuda: it executes the commands
// of package command that it reads from descriptor 3, answers on descriptor 4,
// and ends when its client does. It is a process of its own because a fault on
// the GPU ends a context for good, and with it the process that holds it.
//
// It is the only importer of gorgonia.org/cu, needs cgo and CUDA's headers,
// and is built with the tag cuda by `go run ./install`. Without the tag this
// file is all of it.
//
// It checks no launch: the client has.
package main
