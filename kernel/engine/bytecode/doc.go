// Package bytecode executes functions of cells faster than the closures that the engine
// library, ixgo, compiles them to. It compiles their SSA form to code of a register
// machine when they are first called: at once if they have a loop, otherwise after some
// calls.
//
// Numbers, pointers, maps, channels, function values, slices and strings live in registers
// of 64 bits, in the same form as in memory; a small struct or array is a pointer to memory
// that never changes, and an interface is the two words of an any. All other values stay
// in the engine's frame, as interfaces. An instruction that the machine does not know is
// executed by the engine's closure: its operands are stored in the frame first, and its
// result is loaded from it. So every function can be compiled, and goroutines and calls of
// compiled code behave as before.
//
// A deferred call is recorded, and made by the machine before its function returns or after
// a panic has come to it (records.go, panics.go). The engine's list of deferred calls is used
// for those that the machine cannot make. A variable that only deferred closures capture is
// in a register (captures.go), and the panic of a statement is the machine's own until
// something else looks at it.
//
// If a check fails (a bound, a nil pointer, a division by zero), the engine executes the
// instruction and panics with its own message; the frames that a traceback names are
// made at that time.
//
// Its main type is Function; the engine calls Install for each interpreter. A function
// is compiled in stages: lower (lower.go walks the SSA form; arithmetic.go, memory.go,
// calls.go, captures.go, defers.go, interfaces.go, maps.go and ranges.go emit instructions of one family each, with
// the vregs of values.go, the plan of merge.go and the builder of emit.go), registers
// (finish.go), order of blocks (layout.go). The result is a code (code.go), which a machine executes
// (run.go and machine.go). engine.go holds the layout of the engine library's types. The
// package must not import the engine.
package bytecode
