// Package rewrite changes the checked code of a cell so that it can be interrupted and
// so that a panic in one of its goroutines does not end the process.
//
// Package check makes a Rewriter for the file of a cell and type-checks the result. The
// rewritten code calls the package RuntimePath, which the engine registers. The package
// reads types and syntax only and must not import the engine.
package rewrite
