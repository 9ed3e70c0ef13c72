// Package failure formats the failures of a cell: the names of errors, panics with the
// frames of cells, errors with their place, and internal errors.
//
// Trace and Unwrap follow a panic through interpreters. Rescue converts a panic of this
// program's own code to the failure of one request. The engine and its packages call it.
// The package knows no session and must not import the engine.
package failure
