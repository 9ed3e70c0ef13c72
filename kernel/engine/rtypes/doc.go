// Package rtypes gives each type of a cell one reflect type for the whole session, for
// all interpreters, and finds the methods of such types for compiled code.
//
// A session has one Registry, and one Loader through which the engine library reads it.
// The engine makes both. The registry has a lock of its own, because methods are looked
// up while cells run. The package must not import the engine.
package rtypes
