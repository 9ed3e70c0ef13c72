// Package check turns the text of a cell into a file that type-checks and that can be
// interrupted, or says why there is none.
//
// Checker.Check returns a Cell: its file, package and types, the earlier declarations
// that join it, and what the session becomes once the cell begins. It reads the
// session through namespace.Namespace and leaves it as it is. The engine calls it once
// for each cell, package ask uses its parts for half-typed code. The package compiles
// and runs nothing and must not import the engine.
package check
