//go:build cells && (js || !edited)

package main

import (
	"warpbook/kernel/engine"
	"warpbook/kernel/engine/magic"
)

// debugging is nothing in a browser, whose page sends no debug_request, and without the
// corrections of the engine.
type debugging struct{}

func newDebugging(*program) debugging { return debugging{} }

func (debugging) debugger() engine.Debugger { return nil }

// magics refuse %debug by name.
func (debugging) magics() []*magic.Magic {
	return []*magic.Magic{{
		Name: "debug", Line: true, Args: "COMMAND",
		Short: "Go through the last launch of a kernel; it needs an installation.",
		Run: func(c *magic.Call) error {
			return c.Errorf(c.RestAt, "a browser tab has no debugger: install warpbook, or look at what a block left by bench.Watch")
		},
	}}
}

func (debugging) answer(string) string { return "" }

func (debugging) idle() {}
