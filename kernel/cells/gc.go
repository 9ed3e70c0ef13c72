//go:build cells

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// garbage is how many bytes may be allocated between collections. A small cell
	// allocates 33 KB, and a cell during a collection is 3 ms slower. The runtime
	// collects whenever the heap has doubled, which would be in one of 100 cells; here
	// it is one of 240. A heap that grows more keeps more when it shrinks: 12 MB leave
	// 0.3 MB more after 2 000 cells.
	garbage = 8 << 20

	// mostGarbage is likewise for a cell that goes on: each collection in it allows twice as
	// many as the one before, because a collection marks all that the program has for itself.
	mostGarbage = 64 << 20

	// sampled is how many bytes are allocated between two samples of the memory
	// profile, 32 times the runtime's default. Each sample keeps a page and more for
	// good; at the default, samples were half of the memory that 2 000 cells add.
	sampled = 16 << 20

	// firstPercent makes the first collection come at 18 MB, after the start.
	firstPercent = 450
)

// large is the least number of bytes that a cell allocates for which a collection follows
// it, unless the heap is so large that the collection would take longer than the cell.
const large = 128 << 20

// lastCollected is how many bytes had been allocated at the last collection after a cell.
var lastCollected atomic.Uint64

// collections counts the collections since the last cell ended.
var collections atomic.Int32

// collectAfter collects the garbage of a cell that has allocated much before the cell is
// answered. Otherwise the next cell makes its arrays beside the old ones: the runtime
// collects when the heap has doubled, and what a collection meets while the cell assigns
// a variable, old value and new one, stays until the next.
func collectAfter() {
	defer collections.Store(0)
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	allocated, live := samples[0].Value.Uint64(), samples[1].Value.Uint64()
	if last := lastCollected.Load(); allocated-last >= max(large, live/4) && lastCollected.CompareAndSwap(last, allocated) {
		runtime.GC()
	}
}

// least is by how many percent the heap grows before a collection, at least: GOGC of the
// environment, 100 without it, -1 if it is off.
var least = debug.SetGCPercent(firstPercent)

// paceCollections chooses after each collection when the next one comes, until the heap
// is so large that doubling it takes longer.
func paceCollections() {
	if least < 0 {
		debug.SetGCPercent(least)
		return
	}
	percent, allowed := firstPercent, garbage<<min(collections.Add(1)-1, 8)
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if live := int(sample[0].Value.Uint64()); live > 0 {
		percent = max(least, 100*min(allowed, mostGarbage)/live)
	}
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { paceCollections() }) // at the next collection
}
