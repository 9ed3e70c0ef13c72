// Package trace makes the Go of cells stoppable by a debugger: it is the debuggee of
// package debug for Go cells.
//
// While a client is attached, each cell gets a check before each statement: whether the
// point of the statement is armed, and if so, a call with the values of the variables in
// scope. The call may stop the goroutine, and its result may change the variables. So
// the compiled code keeps its registers, goroutines and deferred calls need no care, and
// a cell that runs without a client has no check at all. The variables of callers are read
// from the frames by package bytecode.
//
// Its main type is Tracer, which the engine calls through engine.Debugger. Functions of
// cells that ran before a client attached have no checks; they get them when their cell
// runs again. The package must not import the engine.
package trace
