// Package check converts the text of a cell to a Go file that type-checks and can be
// interrupted, or reports why it cannot.
//
// Checker.Check returns a Cell: its file, package and types, the earlier declarations
// that join it, and the changes of the session for the moment when the cell begins. It
// reads the session through namespace.Namespace and does not change it. The engine calls
// it once for each cell; package ask uses its parts for half-typed code. The package
// compiles and runs nothing and must not import the engine.
package check
