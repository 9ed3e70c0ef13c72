package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"

	"warpbook/gpu"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/races"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/special"
	"warpbook/gpu/ptx"
	"warpbook/kernel/leaf/breath"
)

// Launch is one execution of a program. Its workers take blocks in the order
// of their numbers.
type Launch struct {
	engine        *Engine
	prog          *Program
	info          gpu.Info
	special       special.Launch
	grid          gpu.Dim
	block         gpu.Dim
	threads       int // per block
	dynamic       int // bytes of shared memory in addition to the program's
	params        []byte
	paramContents *mem.Contents
	source        *gpu.Source       // or nil
	buffers       []*mem.Allocation // of the arguments that are buffers, by parameter; nil for others
	origins       []*mem.Allocation // the buffers that accesses of an origin must stay in, or nil
	into          results
	checks        gpu.Checks
	epoch         uint64 // of interrupts when it was submitted
	limit         uint64 // instructions a warp may run, or 0
	goOn          bool   // uses of undefined values are warnings
	stack         uint64 // bytes of a thread beyond which a recursion is a warning
	order         BlockOrder
	trace         func() tracer         // makes a tracer of a block; nil if the launch asks for no profile
	traced        func(blocks []*block) // stores the profile
	observe       func() observer       // finds following when the launch runs; nil for none
	following     observer              // nil: no debugger follows the launch
	workspace     *mem.Allocation       // of a cooperative launch
	cluster       gpu.Dim               // blocks of a cluster
	streams       comparer              // nil on a device without streams of its own
	mostThreads   int64                 // of a launch that is searched without being asked
	races         raceSearch
	explain       explainer
	global        *races.Global // nil if the launch does not ask for a search on global memory
	leftOut       *warp         // the first to access a word for which that search has no room, or nil
	leftAt        *instr

	total int64

	// Fields that all workers write lie apart from fields that they only read.
	_        cpu.CacheLinePad
	next     atomic.Int64  // first block that no worker has taken
	resident atomic.Int64  // blocks that workers have taken and that have not ended
	left     atomic.Int64  // the same, counted at once
	activity atomic.Uint64 // counts turns of blocks that may have changed memory
	alone    bool          // at the last check for a hang no stream and no host program could write the launch's memory; guarded by mu
	waits    atomic.Bool   // a block waits for others, and whether all fit depends on registers
	_        cpu.CacheLinePad

	mu       sync.Mutex
	blocks   []*block   // in which workers run blocks of the grid; guarded by mu
	first    *gpu.Fault // of the lowest block; guarded by mu
	firstAt  atomic.Int64
	still    still           // guarded by mu
	searches []*races.Global // that have ended and are still to be compared; guarded by mu
	failed   time.Time       // when the first fault was seen; guarded by mu

	printed  printed
	warned   warnings
	unwanted []*gpu.Fault // warnings of a repetition
}

// observer receives the steps of a launch; a debugger implements it, see follow.go. A launch
// without an observer calls none of its methods.
type observer interface {
	begin(b *block, number int64, alone bool) // a block begins; alone says that no other block waits
	before(w *warp, f *fragment)              // a fragment comes to an instruction
	fault(b *block, f *gpu.Fault)
	hung(b *block, f *gpu.Fault)
}

// explainer explains what went wrong in a launch. Where nothing does, it is called only for
// lanes that wait at a .sync operation.
type explainer interface {
	overflowed(w *warp, in *instr, lane int, address uint64) string // why an address lies in no buffer, or ""
	awaits(w *warp, in *instr, f *fragment)                         // lanes wait at a .sync operation
	withoutAbsent(w *warp, in *instr, m uint32)                     // it runs for them
	overrun(b *block) *gpu.Fault
	stoppedRunning(b *block) *gpu.Fault
	neverEnds(b *block, begun int64) *gpu.Fault
}

// comparer compares a launch with those in other streams, see stream_race.go.
type comparer interface {
	begin() // before the first block
	end()   // after the last one, when its searches have ended
}

// compared reports whether the launch is compared with those in other streams.
func (l *Launch) compared() bool { return l.streams != nil }

// endSearch ends a search on global memory. The search of a launch in one of several
// streams is kept until it has been compared.
func (l *Launch) endSearch(g *races.Global) {
	if !l.compared() {
		l.engine.blocks.keep(g)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.searches = append(l.searches, g)
}

// tracer counts the events of each instruction in the blocks that a worker runs. Accesses then
// do not take the fast path.
type tracer interface {
	ran(from, to int32, mask uint32)                             // a warp ran a straight run
	diverged(w *warp, pc int32, taken, active uint32)            // some active lanes took a branch
	request(w *warp, in *instr, space ptx.Space, p *gpu.Pattern) // of a warp to memory
}

// results are where a launch stores what it finds; nil for what its caller does not want.
type results struct {
	counters *gpu.Counters
	warnings *[]*gpu.Fault
}

// Blocks before a faulty one may still run for a while, so that the reported fault does
// not depend on which worker was faster; and for some instructions, because a busy
// machine may keep a worker from running for longer.
const (
	grace             = 100 * time.Millisecond
	graceInstructions = 200_000
)

// stopped ends a block because another block failed; it is never reported.
var stopped = &gpu.Fault{Kind: gpu.ErrInterrupted, Detail: "another block failed"}

// Run executes the launch and stores the results that its gpu.Launch asks for; a fault is
// the error. An interrupt after the number of interrupts was submitted ends the launch.
func (l *Launch) Run(submitted uint64) error {
	l.epoch = submitted
	counters, err := l.run()
	for _, a := range l.buffers {
		if a == nil {
			continue
		}
		if c := a.Contents.Load(); c != nil {
			c.Settle()
		}
	}
	l.deliver()
	if l.into.counters != nil {
		*l.into.counters = counters
	}
	if l.trace != nil {
		l.traced(l.blocks)
	}
	return err
}

// run executes all blocks and returns the counters.
func (l *Launch) run() (gpu.Counters, error) {
	if l.compared() {
		l.streams.begin()
	}
	l.total = int64(l.grid.X) * int64(l.grid.Y) * int64(l.grid.Z)
	l.firstAt.Store(l.total)
	l.special = l.specials()
	n := int(min(int64(l.engine.workers()), l.clusters()))
	if l.checks.Has(gpu.CheckBlockRaces) {
		n, l.global = 1, l.engine.blocks.search(true, l.compared())
	}
	if l.observe != nil {
		l.following = l.observe()
	}
	if l.following != nil {
		n = 1
	}
	first := l.engine.blocks.take(l, n)
	l.blocks = slices.Clone(first)
	var wg sync.WaitGroup
	work := l.work
	if l.cluster.Size() > 1 {
		work = l.workClusters
	}
	for _, b := range first[1:] {
		wg.Go(func() { work(b) })
	}
	work(first[0])
	wg.Wait()
	if l.global != nil {
		l.races.warnLeftOut(l)
		l.endSearch(l.global)
	}
	if l.compared() {
		l.streams.end()
	}
	var c gpu.Counters
	for _, b := range l.blocks {
		if b.patterns != nil {
			b.patterns.finish(b)
		}
		c.Add(b.cnt)
	}
	for _, b := range l.blocks[n:] {
		b.patterns = nil // the patterns of another program
	}
	idle := &Launch{block: l.block} // blocks that wait for a launch keep no memory of their last one alive
	for _, b := range l.blocks {
		b.launch, b.origins, b.place = idle, nil, special.Block{}
	}
	l.engine.blocks.give(l.blocks)
	l.printed.flush(l.engine.output())
	if l.first != nil {
		l.first.Detail += l.warned.before(l.first)
		return c, l.first
	}
	return c, nil
}

// fail keeps the fault of the lowest block.
func (l *Launch) fail(n int64, f *gpu.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == stopped {
		return
	}
	if l.first == nil {
		l.failed = time.Now()
	}
	if l.first == nil || n < l.firstAt.Load() {
		l.first = f
		l.firstAt.Store(n)
	}
}

// interrupted is called after each turn of a warp.
func (l *Launch) interrupted() bool {
	breath.Poll()
	return l.engine.interrupts.Load() != l.epoch
}

// check is called by workers between turns; a fault ends the block.
func (l *Launch) check(b *block) *gpu.Fault {
	if l.interrupted() {
		return l.explain.stoppedRunning(b)
	}
	if l.firstAt.Load() < l.total {
		if b.last == 0 {
			b.last = b.cnt.WarpInstructions + graceInstructions
		}
		l.mu.Lock()
		late := l.ordered(int64(b.linear())) > l.firstAt.Load() || b.cnt.WarpInstructions > b.last && time.Since(l.failed) > grace
		l.mu.Unlock()
		if late {
			return stopped
		}
	}
	if l.limit != 0 && b.cnt.WarpInstructions-b.steps > l.limit {
		return l.explain.overrun(b)
	}
	return nil
}

// blockPool keeps the blocks of the last launches, because a small launch
// costs less than making their registers.
type blockPool struct {
	mu       sync.Mutex
	free     []*block
	searches []*races.Global // for later searches on global memory
}

// search returns a search that is ready for a launch.
func (p *blockPool) search(between, compared bool) *races.Global {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := races.NewGlobal()
	if n := len(p.searches); n > 0 {
		g, p.searches = p.searches[n-1], p.searches[:n-1]
	}
	g.Start(between, compared, mostMarks)
	return g
}

// keep keeps the memory of a search for a later launch.
func (p *blockPool) keep(g *races.Global) {
	g.Forget()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.searches) < pooled {
		p.searches = append(p.searches, g)
	}
}

// pooled bounds the number of blocks that are kept.
const pooled = 16

// take returns n blocks that are ready for the launch.
func (p *blockPool) take(l *Launch, n int) []*block {
	taken := make([]*block, 0, n)
	p.mu.Lock()
	for i := len(p.free) - 1; i >= 0 && len(taken) < n; i-- {
		if b := p.free[i]; b.prog == l.prog && b.launch.block == l.block && b.sharedBytes() == l.prog.static+l.dynamic {
			taken = append(taken, b)
			p.free = append(p.free[:i], p.free[i+1:]...)
		}
	}
	p.mu.Unlock()
	for _, b := range taken {
		b.launch = l
	}
	for len(taken) < n {
		taken = append(taken, newBlock(l))
	}
	for _, b := range taken {
		b.cnt, b.counting, b.fault, b.checks = gpu.Counters{}, l.into.counters != nil || l.trace != nil, nil, l.checks
		b.origins = l.origins
		b.careful = l.trace != nil || l.engine.longWay.Load() || l.global != nil && l.cluster.Size() > 1
		b.hurried = b.careful
		b.searchGlobal(l.global)
		if b.tracer = nil; l.trace != nil {
			b.tracer = l.trace()
		}
		b.following = l.following
		b.lookForRaces(l.checks.Has(gpu.CheckRaces) && b.shared != nil)
		b.vectors = l.engine.vectors()
		b.fillLaunch()
	}
	return taken
}

func (p *blockPool) give(blocks []*block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, blocks...)
	if drop := len(p.free) - pooled; drop > 0 {
		p.free = append([]*block(nil), p.free[drop:]...)
	}
}

func newBlock(l *Launch) *block {
	p := l.prog
	b := &block{prog: p, launch: l}
	var own mem.Pages
	if n := p.static + l.dynamic; n > 0 {
		b.shared = own.Contents(n)
		b.sharedMemory = memoryOf(b.shared)
	}
	n := (l.threads + 31) / 32
	preds, set := mem.Carve[uint32](&own, p.preds*n), mem.Carve[uint32](&own, p.tracked*n)
	frags, slots := mem.Carve[fragment](&own, 32*n), mem.Carve[byte](&own, p.slotBytes*n)
	warps := make([]warp, n+mem.PageBytes/int(unsafe.Sizeof(warp{}))+1) // a page between the warps of two blocks
	for i := range n {
		w := &warps[i]
		w.block, w.index, w.first = b, i, all
		if left := l.threads - 32*i; left < 32 {
			w.first = 1<<left - 1
		}
		w.frags = frags[32*i:][:0:32]
		w.slots = unsafe.Pointer(unsafe.SliceData(slots[p.slotBytes*i:]))
		w.preds = preds[p.preds*i:][:p.preds]
		w.preds[always] = all
		w.vector = simd.Run{Slots: w.slots, Preds: &w.preds[0], Warp: uint32(i % 32)}
		w.set = set[p.tracked*i:][:p.tracked]
		w.product = productState{flights: make([]flight, p.flights)}
		if n := p.localBytes; n > 0 {
			w.local = own.Contents(32 * n)
			w.copied = make([][32]uint32, l.prog.copies)
		}
		b.warps = append(b.warps, w)
	}
	b.fillShape()
	return b
}

func (b *block) sharedBytes() int {
	if b.shared == nil {
		return 0
	}
	return len(b.shared.Data)
}

// ordered is the number of the block that starts n-th. It is also the position of the
// block with the number n: every order is its own inverse.
func (l *Launch) ordered(n int64) int64 {
	switch l.order {
	case Backwards:
		return l.total - 1 - n
	case FromMiddle:
		return (l.total/2 - n + l.total) % l.total
	}
	return n
}
