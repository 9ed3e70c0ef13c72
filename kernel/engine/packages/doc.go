// Package packages offers cells the packages that they can import: those that the
// program links, and those of modules that the user has added.
//
// A session has one Importer; the engine makes it. It rejects other packages with a
// message that names the nearest one. The package must not import the engine.
package packages
