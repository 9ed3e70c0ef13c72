package puzzles

import (
	"warpbook/gpu"
	"warpbook/gpu/trace"
)

// flat is the number of a thread in its block, or of a block in its grid.
func flat(at, shape gpu.Dim) int {
	shape = shape.Full()
	return (at.Z*shape.Y+at.Y)*shape.X + at.X
}

// findRace finds two accesses to one word of global memory by two threads, at least one a
// write and not both atomic, that no barrier orders. Threads of different blocks are
// ordered by nothing. Stores of equal values are a race as well. The emulator finds races
// in shared memory by itself.
func findRace(events []trace.Event, l gpu.Launch) (first, second trace.Event, found bool) {
	type counts struct{ block, warp int }
	epochs := map[[2]int]*counts{} // by block and thread
	type access struct {
		trace.Event
		id     [2]int
		epoch  counts
		strong bool
	}
	words := map[uint64][]access{}
	for _, e := range events {
		id := [2]int{flat(e.Block, l.Grid), flat(e.Thread, l.Block)}
		epoch := epochs[id]
		if epoch == nil {
			epoch = &counts{}
			epochs[id] = epoch
		}
		switch {
		case e.Kind == trace.BlockBarrier:
			epoch.block++
			continue
		case e.Kind == trace.WarpBarrier:
			epoch.warp++
			continue
		case e.Shared:
			continue
		}
		now := access{e, id, *epoch, e.Kind == trace.Atomic}
		for word := e.Address / 4; word <= (e.Address+uint64(e.Bytes)-1)/4; word++ {
			for _, before := range words[word] {
				switch sameBlock := before.id[0] == id[0]; {
				case before.id == id, before.Kind == trace.Load && e.Kind == trace.Load, before.strong && now.strong:
				case sameBlock && before.epoch.block != epoch.block:
				case sameBlock && before.id[1]/32 == id[1]/32 && before.epoch.warp != epoch.warp:
				case !sameBlock && (before.Kind == trace.Load || e.Kind == trace.Load): // may be ordered by fences, which the emulator follows
				default:
					return before.Event, e, true
				}
			}
			words[word] = append(words[word], now)
		}
	}
	return trace.Event{}, trace.Event{}, false
}
