//go:build cells

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbage is how many bytes may be allocated between collections. A small cell
	// allocates 33 KB, and a cell during a collection is 3 ms slower. The runtime
	// collects whenever the heap has doubled, which would be in one of 100 cells; here
	// it is one of 360.
	garbage = 12 << 20

	// sampled is how many bytes are allocated between two samples of the memory
	// profile, 32 times the runtime's default. Each sample keeps a page and more for
	// good; at the default, samples were half of the memory that 2 000 cells add.
	sampled = 16 << 20

	// firstPercent makes the first collection come at 18 MB, after the start.
	firstPercent = 450
)

// paceCollections chooses after each collection when the next one comes, until the heap
// is so large that doubling it takes longer.
func paceCollections() {
	percent := firstPercent
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if live := int(sample[0].Value.Uint64()); live > 0 {
		percent = max(100, 100*garbage/live)
	}
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { paceCollections() }) // at the next collection
}
