// Package ask answers questions about code that is being written: what a name can
// become (Complete) and what it is (Inspect).
//
// An Asker checks the half-typed cell with a name at the cursor, whatever errors it
// has, and changes nothing of the session. The engine makes one for each session. The
// package runs no code of cells and must not import the engine.
package ask
