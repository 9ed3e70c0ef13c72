// Package rewrite changes the checked code of a cell so that it can be interrupted and
// so that a panic in one of its goroutines does not end the process.
//
// The check of a cell makes a Rewriter for its file and checks the outcome again. What
// the rewritten code calls is the package RuntimePath, which the engine registers. The
// package reads types and syntax alone and must not import the engine.
package rewrite
