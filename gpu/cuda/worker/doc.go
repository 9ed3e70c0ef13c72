// Command worker holds a CUDA context for gpu/cuda: it executes the commands
// of package command that it reads from descriptor 3, answers on descriptor 4,
// and ends when its client ends. It is a separate process because a fault on the
// GPU makes the context unusable for the rest of its process.
//
// It is the only importer of gorgonia.org/cu and needs cgo and CUDA's headers.
// `go run ./install` builds it with the tag cuda; without the tag the package is
// only this file.
//
// It checks no launch: the client checks each launch before it sends the command.
package main
