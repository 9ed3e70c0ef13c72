// Package graph records the declarations of a session that are interpreted, and the
// declarations that each of them reaches: a cell is compiled with the declarations that
// it needs and no others.
//
// A Graph holds Units, one for each cell and each package that is kept as source, and
// their Decls. The compiler walks it, redefinition changes it, and Prune drops the units
// that no live name reaches. Its methods are called with the session's lock held. The
// package must not import the engine.
package graph
