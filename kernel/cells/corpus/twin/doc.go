// Package twin writes the compiled program of cells that run in an order: what a session prints
// is compared with it. Its main type is Twin. Package corpus compiles the programs. It must not
// import the engine.
package twin
