//go:build cells

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// garbage is how many bytes of it may gather between collections. A small
	// cell makes 33 KB, and those that a collection falls on are 3 ms slower: by
	// the runtime's own choice, a collection whenever the heap has doubled, that
	// would be one in a hundred. It is one in 360.
	garbage = 12 << 20

	// sampled is how many bytes are allocated between two samples of
	// the memory profile, 32 times as many as by the runtime's own choice: each
	// keeps a page and more for good, and was half of what 2 000 cells add.
	sampled = 16 << 20

	// firstPercent makes the first collection come at 18 MB, after the start.
	firstPercent = 450
)

// paceCollections chooses after each collection when the next one comes, until
// the heap is so large that doubling it is later still.
func paceCollections() {
	percent := firstPercent
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if live := int(sample[0].Value.Uint64()); live > 0 {
		percent = max(100, 100*garbage/live)
	}
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { paceCollections() }) // at the next one
}
