// Package flow is the control flow of an entry: the code of all functions that
// it calls in one piece, and the graph of its blocks in the order in which the
// engine lays them out, so that parted lanes meet again where they can.
//
// Inline and NewGraph are called when an entry is lowered. The package knows
// the text (gpu/ptx) and nothing of execution.
package flow
