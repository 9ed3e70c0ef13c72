// Package corpus runs programs that others wrote as cells: the examples of Go's
// standard library and the run-tests of the Go distribution. Its main type is Session,
// a cells program that runs them. It also compares what cells print that run twice with the
// compiled programs that package twin writes; the notebooks of this repository are such cells,
// too.
//
// The commands examples and gotests, and tests of the cells program such as TestSoak, are its
// callers. It must not import the engine.
package corpus
