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

func (debugging) magics() []*magic.Magic { return nil }

func (debugging) answer(string) string { return "" }

func (debugging) idle() {}
