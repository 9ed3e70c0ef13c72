package engine

import (
	"warpbook/kernel/engine/ask"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/compile"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/namespace"
)

// Engine is one session. Its methods are safe for concurrent use; cells are compiled one
// at a time, and run concurrently.
type Engine struct {
	*namespace.Namespace
	*namespace.Files
	*check.Checker
	*compile.Compiler
	*ask.Asker
	*host
	config  Config
	history []magic.Cell // the last cells; guarded by mu

	nextPrune int // the number of units at which prune runs again; guarded by mu
}

const maxStack = 1 << 30 // stop.MaxStack ends a recursion long before

// Close removes the session's temporary files.
func (e *Engine) Close() error { return e.Importer.Modules.Close() }
