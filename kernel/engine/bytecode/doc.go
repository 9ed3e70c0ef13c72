// Package bytecode executes functions of cells that the engine library, ixgo, has
// compiled to closures. It compiles them again from their SSA form, to code of a
// register machine, when they are first called: at once if they have a loop, else
// after some calls.
//
// Numbers, pointers, slices and strings live in registers of 64 bits, as they are
// in memory. All other values stay in the engine's frame, as interfaces. An
// instruction that the machine does not know is executed by the engine's closure:
// its operands are put into the frame before, and its result is taken out. So no
// function has to be refused, and defers, goroutines, channels, maps and calls of
// compiled code are what they were.
//
// A check that fails (a bound, a nil pointer, a division by zero) also has the
// engine execute the instruction. The engine then panics with its own words; the
// frames that a traceback names are made at that time.
//
// The stages: lower (SSA to instructions, in lower.go, arithmetic.go, memory.go
// and calls.go), registers (finish.go), order of blocks (layout.go), execution
// (run.go and machine.go). engine.go holds what is known of the engine's inside.
package bytecode
