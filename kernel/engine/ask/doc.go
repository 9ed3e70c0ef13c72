// Package ask answers questions about code that is being written: completions of a name
// (Complete) and its documentation (Inspect).
//
// An Asker type-checks the half-typed cell with a name at the cursor, despite its
// errors, and changes nothing of the session. The engine makes one Asker for each
// session. The package runs no code of cells and must not import the engine.
package ask
