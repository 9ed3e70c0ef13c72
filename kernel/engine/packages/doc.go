// Package packages offers cells the packages that they can import: those that the
// program links, and those of modules that the user has added.
//
// An Importer is one for a session. It refuses other packages with a message that
// names the nearest. The package must not import the engine.
package packages
