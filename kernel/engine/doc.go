// Package engine runs the cells of a Go notebook in this process: it evaluates,
// completes, inspects and interrupts.
//
// An Engine is one session. The cells program makes it and gives it cells. Types,
// variables and goroutines live as long as the session. Standard output and error are
// those of the process. The package knows no messages and no display, and imports
// nothing of gpu and ops. Failures that end a process (a concurrent map write, lack of
// memory, a fault in C code) end this process, so the engine runs in a program of its
// own, kernel/cells.
//
// A cell goes through these stages, in this order:
//
//	expand    a cell in another language becomes Go that declares its variables
//	parse     the cell becomes a file: imports, declarations, one function of statements
//	infer     the types of the variables that statements define
//	carry     earlier declarations whose meaning changes join the file; parse again
//	check     go/types checks the file, with the live objects in scope
//	rewrite   loops, waits and calls become interruptible; go/types checks again
//	link      the file and the declarations that it reaches become SSA, far ones are linked
//	begin     the last check of the interrupt flag: from here on the cell takes effect
//	commit    names, sources and functions of the session change, all or none
//	run       ixgo and package bytecode execute the statements
//
// Before begin, an interrupt or a panic of the type checker or of this package leaves
// the session unchanged; a panic in commit undoes the commit. Every change of the
// session is written to the journal of its cell (see change), and TestPanicAtEachStage
// compares the session before and after.
//
// Programs that import this package are built by warpbook/kernel/edited. It corrects
// defects of the engine library and knows the Go versions whose runtime lays out types
// as the library does.
package engine

//go:generate go run ./symbols/generate -dir symbols
