// Package compile makes programs of checked cells: SSA of the cell and of the
// declarations that it reaches, and the interpreter that runs it.
//
// Compiler.Build makes one Program for each unit. Functions of earlier cells that are
// far from the cell are linked: they are called in a program that is made once. The
// engine calls Build with the session's lock held. The package runs no statements of
// cells except the initial values of imported packages, and must not import the engine.
package compile
