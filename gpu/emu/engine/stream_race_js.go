package engine

import "warpbook/gpu/emu/mem"

// The program for browsers has no room for the search for races between streams.

type (
	Order   struct{}
	Streams struct{}

	Transfer struct {
		What        string
		Write, Read Range
	}
	Range struct {
		Memory       *mem.Allocation
		Start, Bytes int
	}
)

func NewStreams(*Engine) *Streams          { return &Streams{} }
func (*Streams) Order(*Launch, *Order)     {}
func (*Streams) Transfer(*Order, Transfer) {}
func (*Streams) Drop()                     {}
