package engine

import (
	"warpbook/kernel/engine/ask"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/namespace"
)

// Engine is one session. Its methods may be called at any time, from any
// goroutine: cells are compiled one at a time, and run at once.
type Engine struct {
	*namespace.Namespace
	*namespace.Files
	*check.Checker
	*compile.Compiler
	*ask.Asker
	*host
	config  Config
	history []magic.Cell // the last cells; guarded by mu

	nextPrune int // how many units there are when prune looks again; guarded by mu
}

const maxStack = 1 << 30 // the watch of stacks acts long before the runtime does

// Close removes what the session has written.
func (e *Engine) Close() error { return e.Importer.Modules.Close() }
