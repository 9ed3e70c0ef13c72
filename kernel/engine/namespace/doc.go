// Package namespace holds the state of a session: the meaning of each name, its source
// and its cell, and the declarations that are interpreted.
//
// A session has one Namespace, guarded by its Mu, and one Files, which type-checks with
// live objects in scope. The engine writes to it when a cell is committed; check,
// compile and ask read it. The package must not import the engine.
package namespace
