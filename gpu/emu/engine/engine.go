package engine

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/gpu/emu/flow"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/emu/simd"
	"warpbook/gpu/emu/texture"
)

// Engine lowers programs for one GPU and runs them on the processors of this machine. Its
// owner, a device, runs one launch at a time; settings may change at any time and apply to
// later launches.
type Engine struct {
	info      gpu.Info
	memory    *mem.Memory
	resources Resources

	blocks     blockPool
	interrupts atomic.Uint64 // how often Interrupt was called
	stepLimit  atomic.Uint64
	order      atomic.Int32 // BlockOrder
	maxWorkers atomic.Int64
	maxVectors atomic.Int64
	longWay    atomic.Bool
	goOn       atomic.Bool                            // see GoOn
	stack      atomic.Uint64                          // see LimitStack
	out        atomic.Pointer[io.Writer]              // of printf
	warnings   atomic.Pointer[func(*gpu.Fault)]       // see SetWarnings
	observe    atomic.Pointer[func(*Launch) observer] // makes the observer of a launch, nil if there is none of this engine

	heap *mem.Heap

	objects texture.Objects
}

// Resources finds the memory and the objects that the arguments of a launch name. The
// device implements it. The device has checked that it owns a buffer and that the buffer
// is alive; an object is checked here.
type Resources interface {
	// Allocation is the allocation that a buffer lies in, and its offset there in bytes.
	Allocation(b gpu.Buffer) (a *mem.Allocation, offset int)

	// Object is the number that Objects().Add returned for a texture or surface object.
	Object(o gpu.Object) (number uint64, err error)

	// Waiting reports whether others may yet write memory of the running launch: work that waits
	// for it, or the host. Workers of the launch call it.
	Waiting() bool
}

// New returns an engine of a GPU with its memory.
func New(info gpu.Info, memory *mem.Memory, resources Resources) *Engine {
	e := &Engine{info: info, memory: memory, resources: resources, heap: mem.NewHeap(memory)}
	e.LimitVectors(simd.AVX512)
	e.LimitStack(0)
	return e
}

// Objects are the texture and surface objects that kernels may name.
func (e *Engine) Objects() *texture.Objects { return &e.objects }

// Heap is the heap of kernels.
func (e *Engine) Heap() *mem.Heap { return e.heap }

// LimitSteps bounds the number of instructions that the warps of one block may run
// together; a block that runs more ends with gpu.ErrStepLimit. 0 is no limit.
func (e *Engine) LimitSteps(n uint64) { e.stepLimit.Store(n) }

// GoOn makes later launches go on after uses of undefined values, as a GPU does: reads of what
// was never written, and lanes outside of their own masks, are warnings.
func (e *Engine) GoOn(on bool) { e.goOn.Store(on) }

// LimitStack sets the bytes of a thread's stack beyond which a recursion of later launches is a
// warning; 0 is a GPU's default.
func (e *Engine) LimitStack(bytes uint64) {
	if bytes == 0 {
		bytes = flow.DefaultStack
	}
	e.stack.Store(bytes)
}

// LimitWorkers bounds the number of blocks that run at a time; 0 is one per processor.
func (e *Engine) LimitWorkers(n int) { e.maxWorkers.Store(int64(n)) }

// workers is the number of blocks that run at a time.
func (e *Engine) workers() int {
	if n := e.maxWorkers.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// LimitVectors restricts the vector instructions that are used.
func (e *Engine) LimitVectors(v simd.Vectors) { e.maxVectors.Store(int64(v)) }

func (e *Engine) vectors() simd.Vectors {
	return min(simd.Vectors(e.maxVectors.Load()), simd.Best)
}

// LimitPatterns runs each access of memory lane by lane, without the fast path for known
// patterns. The results are the same: tests compare them.
func (e *Engine) LimitPatterns(limit bool) { e.longWay.Store(limit) }

// SetOutput sets the writer of printf and of warnings; nil is os.Stdout.
func (e *Engine) SetOutput(w io.Writer) { e.out.Store(&w) }

// SetWarnings sets what gets the warnings of transfers, which have no launch; nil prints them.
func (e *Engine) SetWarnings(warn func(*gpu.Fault)) { e.warnings.Store(&warn) }

// warn gives away a warning without a launch.
func (e *Engine) warn(f *gpu.Fault) {
	if to := e.warnings.Load(); to != nil && *to != nil {
		(*to)(f)
		return
	}
	fmt.Fprintf(e.output(), "%s: %v\n", f.Severity(), f)
}

func (e *Engine) output() io.Writer {
	if w := e.out.Load(); w != nil && *w != nil {
		return *w
	}
	return os.Stdout
}

// Interrupt ends running launches and those that were submitted.
func (e *Engine) Interrupt() { e.interrupts.Add(1) }

// Interrupts is the number of calls of Interrupt. The count at the time when a launch was
// submitted is the argument of Launch.Run.
func (e *Engine) Interrupts() uint64 { return e.interrupts.Load() }

// Drop releases the memory that the engine keeps for later launches. No launch may run.
func (e *Engine) Drop() { e.blocks = blockPool{} }

// OrderBlocks sets the order in which the blocks of later launches start.
func (e *Engine) OrderBlocks(order BlockOrder) { e.order.Store(int32(order)) }
