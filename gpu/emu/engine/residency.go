package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"warpbook/gpu"
)

// A worker runs one block after another, to its end. A block whose warps all spin may
// wait for another block, as at a barrier of the grid: the worker puts it aside and
// starts the next one, up to the number of blocks that the GPU would have resident at
// once, and gives those aside their turns. Blocks that wait for one that is not resident
// wait forever, as on a GPU.

// patientPasses is how often all warps of a block must spin through their turns before
// it is put aside.
const patientPasses = 4

// room is the number of blocks that the GPU has resident at once.
func (l *Launch) room() int64 { return int64(max(l.perSM(), 1) * l.info.SMs) }

// perSM is the number of them on one SM. Registers count once a block waits for another one.
func (l *Launch) perSM() int {
	if l.waits.Load() {
		return l.engine.Occupancy(l.prog, l.threads, l.dynamic)
	}
	return l.info.Occupancy(l.threads, 0, l.prog.static+l.dynamic)
}

// mostRegisters is what a thread can have.
const mostRegisters = 255

// fitsAnyway reports whether all blocks are resident at once, however many registers a
// thread has.
func (l *Launch) fitsAnyway() bool {
	return l.total <= int64(l.info.SMs*l.info.Occupancy(l.threads, mostRegisters, l.prog.static+l.dynamic))
}

// Occupancy is the number of blocks, each of some threads and bytes of dynamic shared
// memory, that an SM holds. An unknown number of registers is no limit.
func (e *Engine) Occupancy(p *Program, threads, dynamic int) int {
	return e.info.Occupancy(threads, p.Registers(), p.static+dynamic)
}

// work runs blocks until none is left or one has failed.
func (l *Launch) work(b *block) {
	if b.patterns == nil {
		b.patterns = b.newPatternTable()
	}
	patterns, global := b.patterns, b.global
	if l.searchSmall() {
		global = l.engine.blocks.search(false, l.compared())
		defer l.endSearch(global)
		b.searchGlobal(global)
	}
	free, aside := []*block{b}, []*block(nil)
	var queue []int64 // blocks that this worker has taken and that are resident
	var ended int64   // of the blocks that it has taken before
	for {
		more := true
		if len(queue) == 0 {
			l.resident.Add(-ended)
			ended = 0
			queue, more = l.takeNumbers()
		}
		switch {
		case len(queue) > 0:
			if queue[0] > l.firstAt.Load() {
				return
			}
			if len(free) == 0 {
				free = l.another()
				free[0].patterns = patterns
				free[0].searchGlobal(global)
			}
			b, free = free[0], free[1:]
			b.start(l.place(l.ordered(queue[0])))
			if b.following != nil {
				b.following.begin(b, queue[0], len(aside) == 0)
			}
			queue = queue[1:]
		case len(aside) > 0 && l.allQuiet(aside):
			if l.rest(aside) {
				return
			}
			continue
		case len(aside) > 0:
			b, aside = aside[0], aside[1:]
		case more && !l.interrupted() && l.next.Load() <= l.firstAt.Load():
			time.Sleep(waitForRoom)
			continue
		default:
			return
		}
		b.run()
		switch {
		case b.fault != nil:
			l.fail(l.ordered(int64(b.linear())), b.fault)
			return
		case b.live > 0:
			if b.races != nil {
				b.races.Replay(b.patterns)
			}
			b.waits()
			aside = append(aside, b)
			if !l.waits.Load() && !l.fitsAnyway() {
				l.waits.Store(true)
			}
		default:
			ended++
			l.left.Add(-1)
			free = append(free, b)
		}
	}
}

// waits notes that a block has polled through its turns: it is watched from time to time.
func (b *block) waits() {
	if b.polled++; !b.watch.On && b.polled >= suspectVisits && b.polled&(b.polled-1) == 0 {
		b.suspect = 0
	}
}

// allQuiet reports whether none of some blocks can go on before another block does.
func (l *Launch) allQuiet(blocks []*block) bool {
	now := l.activity.Load()
	return !slices.ContainsFunc(blocks, func(b *block) bool { return !b.watch.Quiet(now) })
}

// rest lets a worker wait whose blocks are all quiet; it reports whether the launch has
// ended.
func (l *Launch) rest(quiet []*block) bool {
	for _, b := range quiet {
		if l.hangs(b) {
			return true
		}
		b.watch.Stays()
	}
	first := slices.MinFunc(quiet, func(a, b *block) int {
		return cmp.Compare(l.ordered(int64(a.linear())), l.ordered(int64(b.linear())))
	})
	number := l.ordered(int64(first.linear()))
	if f := l.check(first); f != nil {
		l.fail(number, f)
		return true
	}
	if number >= l.firstAt.Load() {
		return true
	}
	time.Sleep(waitForRoom)
	return false
}

// waitForRoom is how long a worker without work waits while the blocks of other workers
// take all places.
const waitForRoom = 50 * time.Microsecond

// takeNumbers takes the next blocks of the grid for a worker and makes them resident, so
// that blocks start in the launch's BlockOrder: a later one may wait for an earlier one.
// It reports whether there are more.
func (l *Launch) takeNumbers() (numbers []int64, more bool) {
	if l.next.Load() >= l.total {
		return nil, false
	}
	chunk := l.chunk()
	for ; chunk > 0 && l.resident.Add(chunk) > l.room(); chunk /= 2 {
		l.resident.Add(-chunk)
	}
	if chunk == 0 {
		return nil, true
	}
	l.left.Add(chunk) // before another worker can see that none is left to begin
	end := l.next.Add(chunk)
	for n := end - chunk; n < min(end, l.total); n++ {
		numbers = append(numbers, n)
	}
	l.resident.Add(int64(len(numbers)) - chunk)
	l.left.Add(int64(len(numbers)) - chunk)
	return numbers, true
}

// chunk is the number of blocks that a worker takes at a time: neighbours, because they
// read neighbouring memory, but few enough that the workers end together.
func (l *Launch) chunk() int64 {
	const share, most = 16, 32
	return max(1, min(most, l.total/(share*int64(l.engine.workers()))))
}

// place is the index in the grid of the block with the number n.
func (l *Launch) place(n int64) gpu.Dim {
	x, y := int64(l.grid.X), int64(l.grid.Y)
	return gpu.Dim{X: int(n % x), Y: int(n / x % y), Z: int(n / (x * y))}
}

// another makes place for one more resident block.
func (l *Launch) another() []*block {
	blocks := l.engine.blocks.take(l, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks = append(l.blocks, blocks...)
	return blocks
}

// spins reports whether all threads only wait for others.
func (b *block) spins() bool {
	for _, w := range b.warps {
		for i := range w.frags {
			if f := &w.frags[i]; f.state == running && f.waits < spinAfter {
				return false
			}
		}
	}
	return true
}

// still are the quiet blocks of a launch. A launch hangs if every resident block is quiet, no
// further block can begin, and no waiting stream and no running host program can write its
// memory.
type still struct {
	activity uint64
	blocks   map[*block]bool
}

// hangs notes that a block is quiet, and reports whether the launch hangs, for which it
// then has a fault.
func (l *Launch) hangs(b *block) bool {
	f, first := l.hang(b)
	if f != nil {
		if first.following != nil {
			first.following.hung(first, f)
		}
		l.fail(l.ordered(int64(first.linear())), f)
	}
	return f != nil
}

// hang is the fault of a launch that hangs, with the first block of it.
func (l *Launch) hang(b *block) (*gpu.Fault, *block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.activity.Load()
	if !b.watch.Quiet(now) {
		return nil, nil
	}
	if l.still.activity != now || l.still.blocks == nil {
		l.still = still{now, map[*block]bool{}}
	}
	l.still.blocks[b] = true
	left := l.left.Load()
	begun := min(l.next.Load()*int64(l.cluster.Size()), l.total)
	if int64(len(l.still.blocks)) < left || begun < l.total && left < l.room() || !l.onlyWriter() {
		return nil, nil
	}
	first := b
	for other := range l.still.blocks {
		if l.ordered(int64(other.linear())) < l.ordered(int64(first.linear())) {
			first = other
		}
	}
	return l.explain.neverEnds(first, begun), first
}

// onlyWriter reports whether the launch was the only writer of its memory at this check and at
// the one before. If not, its quiet blocks must repeat their states once more. l.mu is held.
func (l *Launch) onlyWriter() bool {
	was := l.alone
	if l.alone = !l.engine.resources.Waiting(); !was || !l.alone {
		l.activity.Add(1)
	}
	return was && l.alone
}

// becauseOfRegisters names the registers if they limit how many blocks are resident.
func (l *Launch) becauseOfRegisters() string {
	if l.perSM() == l.info.Occupancy(l.threads, 0, l.prog.static+l.dynamic) {
		return ""
	}
	return fmt.Sprintf(" with %d registers per thread", l.prog.Registers())
}
