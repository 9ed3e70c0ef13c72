// The cells program runs the Go cells of one notebook. A session starts it as
// a child process, so that whatever a cell does to its process costs neither
// the session nor the notebook: requests come in on descriptor 3, events go
// out on descriptor 4 (package frame), standard output and error are pipes
// that the session reads. It ends when descriptor 3 closes.
//
// It is the only program that links the cell engine, which knows the runtime of
// Go 1.26 and no newer one. The entry point builds it; by hand that is:
//
//	go build -tags=cells ./kernel/cells
//
// Without the tag the program is a stub that says so, and everything else
// builds, vets and tests with no flags.
package main
