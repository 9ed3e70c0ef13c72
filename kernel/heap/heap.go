// Package heap gives a program at once the memory that it will have anyway, so
// that collections of garbage can be rare and the program still does not grow.
package heap

import (
	"runtime/metrics"
	"time"
)

const (
	// rounds is how many collections it takes until the heap, and what the
	// runtime keeps beside it, are as large as they will be. Memory that is used
	// for the first time needs no zeros and may not be there yet; what has been
	// collected is written to.
	rounds = 3

	// most is how many bytes are allocated if collections do not come.
	most = 64 << 20

	step  = 256 << 10        // bytes between two pauses
	pause = time.Millisecond // for those who have something to do
	size  = 512              // bytes of a piece: small, so that spans are as many as small objects have
)

// piece is the last one. A variable of the package has it, else it would be on
// the stack.
var piece *[size]byte

// Fill makes garbage, in small steps with pauses, until it has been collected
// three times. It is for a program that has just started and has chosen when its
// heap is collected. Go gives back only what is more than 1.1 times the size at
// which that is, so the program keeps the memory.
func Fill() {
	for made, before := 0, collections(); made < most && collections() < before+rounds; made += step {
		litter()
	}
}

// litter makes one step of garbage.
func litter() {
	for range step / size {
		piece = new([size]byte)
	}
	time.Sleep(pause)
}

// collections is how many there were.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
