// Package brief prints a Go value in one line, for lists of variables and for the text
// of a panic.
//
// Value calls no methods of cells and walks no maps, pointers or long slices: other
// goroutines may be changing them. The package needs no session and must not import
// the engine.
package brief
