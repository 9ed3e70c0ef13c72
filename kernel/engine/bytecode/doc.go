// Package bytecode executes functions of cells faster than the closures that the engine
// library, ixgo, compiles them to. It compiles their SSA form to code of a register
// machine when they are first called: at once if they have a loop, otherwise after some
// calls.
//
// Numbers, pointers, slices and strings live in registers of 64 bits, in the same form
// as in memory. All other values stay in the engine's frame, as interfaces. An
// instruction that the machine does not know is executed by the engine's closure: its
// operands are stored in the frame first, and its result is loaded from it. So every
// function can be compiled, and defers, goroutines, channels, maps and calls of compiled
// code behave as before.
//
// If a check fails (a bound, a nil pointer, a division by zero), the engine executes the
// instruction and panics with its own message; the frames that a traceback names are
// made at that time.
//
// The stages: lower (SSA to instructions, in lower.go, arithmetic.go, memory.go
// and calls.go), registers (finish.go), order of blocks (layout.go), execution
// (run.go and machine.go). engine.go holds what is known of the engine's inside.
package bytecode
