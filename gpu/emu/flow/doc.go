// Package flow builds the control flow of an entry: one piece of code with all functions
// that it calls, and the graph of its blocks, ordered so that diverged lanes reconverge
// where they can.
//
// Its main type is Graph. Package emu calls Inline and NewGraph when it lowers an entry.
// The package knows the text (gpu/ptx) and nothing of execution, and must not import
// emu.
package flow
