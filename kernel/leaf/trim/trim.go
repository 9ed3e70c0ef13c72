// Package trim gives a program's free memory back to the system in pauses. The kernel and
// the cells program collect garbage rarely, because a cell that meets a collection takes
// three times as long; a pause is the time for it. It imports nothing of the project.
package trim

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	pause = time.Second
	least = 1 << 20 // bytes allocated since the last time; less is not worth a collection

	// smallHeap is the most live bytes for which a second collection is worth its time,
	// which grows with the heap. What pools keep does not.
	smallHeap = 64 << 20
)

// Heap gives memory back after pauses. Any goroutine may call its methods. The zero
// value is ready.
type Heap struct {
	mu        sync.Mutex // guards the fields below
	timer     *time.Timer
	allocated uint64 // bytes, when memory was last given back

	free func() // in tests, in place of giveBack
}

// Worked is called at the end of each piece of work, and takes less than a microsecond.
func (m *Heap) Worked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer == nil {
		m.timer = time.AfterFunc(pause, m.paused)
		return
	}
	m.timer.Reset(pause)
}

func (m *Heap) paused() {
	m.mu.Lock()
	now := allocations()
	enough := now-m.allocated >= least
	if enough {
		m.allocated = now
	}
	m.mu.Unlock()
	switch { // without mu: a cell does not wait
	case !enough:
	case m.free != nil:
		m.free()
	default:
		giveBack()
	}
}

// giveBack collects and returns free memory to the system. A sync.Pool keeps its objects
// for one collection after their last use, and each of them holds a span of other free
// memory, so a second collection precedes that of FreeOSMemory, unless it would take long.
func giveBack() {
	if live() <= smallHeap {
		runtime.GC()
	}
	debug.FreeOSMemory()
}

// allocations is the number of bytes allocated so far.
func allocations() uint64 {
	return read("/gc/heap/allocs:bytes")
}

// live is the number of bytes that the last collection left.
func live() uint64 {
	return read("/gc/heap/live:bytes")
}

func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
