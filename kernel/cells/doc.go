// The cells program runs the Go cells of one notebook. Package cellproc starts it as a
// child process, so that nothing a cell does to its process ends the kernel: requests
// arrive on descriptor 3, events leave on descriptor 4 (package cellproto), and
// standard output and error are pipes that cellproc reads. The program ends when
// descriptor 3 closes. Its main type is program, which connects the engine to the
// descriptors.
//
// It is the only program that links the cell engine. The engine knows the runtimes of
// Go 1.26 and 1.27, and its library is corrected (package edited). It must not import
// the server or any package of notebooks. Package cellbuild builds it; by hand:
//
//	go run ./kernel/edited/go build ./kernel/cells
//
// Without the build tag the program is a stub that prints a message, and everything
// else builds, vets and tests without flags.
package main
