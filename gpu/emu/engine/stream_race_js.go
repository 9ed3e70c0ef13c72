package engine

import (
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
)

// The program for browsers has no room for the search for races between streams.

type (
	Order       struct{}
	streamRaces struct{}

	Transfer struct {
		What        string
		Write, Read Range
	}
	Range struct {
		Memory       *mem.Allocation
		Start, Bytes int
	}
)

func (*Launch) OrderStreams(*Order)         {}
func (*Launch) compared() bool              { return false }
func (*Engine) beginStreams(*Order)         {}
func (*Engine) Transfer(*Order, Transfer)   {}
func (*Launch) endStreams()                 {}
func (l *Launch) endSearch(g *races.Global) { l.engine.blocks.keep(g) }
