// Package failure words how a cell ends that does not end well: the names of errors,
// panics with the frames of cells, complaints with their place, and internal errors.
//
// Trace and Unwrap follow a panic through interpreters, Rescue makes a panic of our own
// code the failure of one request. The package knows no session and must not import the
// engine.
package failure
