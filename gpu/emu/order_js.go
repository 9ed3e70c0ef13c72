package emu

import "warpbook/gpu/emu/engine"

// The program for browsers has no room for the search for races between streams.

type (
	clock    struct{}
	ordering struct{}
)

func (*ordering) newStream() uint32           { return 1 }
func (*ordering) launch(uint32) *engine.Order { return nil }
func (*ordering) fork(uint32, ...uint32)      {}
func (*ordering) join(uint32, ...uint32)      {}
func (*ordering) record(uint32, *event)       {}
func (*ordering) wait(uint32, *event)         {}
func (*ordering) sync(uint32)                 {}
func (*ordering) syncAll()                    {}
func (*ordering) syncEvents(...*event)        {}
func (*ordering) drop(...uint32)              {}
func (*ordering) closed(uint32)               {}
