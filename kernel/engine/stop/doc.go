// Package stop interrupts interpreted code: the flag that code reads in loops and calls,
// the channel that ends its waits, and the watchdog that notices a lasting cell.
//
// A session has one Stopper. The engine begins and ends stops, rewritten code and the
// functions registered for it call the rest. A stopped goroutine panics with
// Interrupted and has a short time for its deferred calls. The package knows no cells
// and must not import the engine.
package stop
