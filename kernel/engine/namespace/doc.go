// Package namespace holds what a session knows: the meaning of each name, the source
// and the cell that it comes from, and the declarations that are interpreted.
//
// A session has one Namespace, guarded by its Mu, and one Files, which type-checks with
// live objects in scope. The engine writes to it when a cell is committed; check,
// compile and ask read it. The package must not import the engine.
package namespace
