package gpu

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of error. Every error of a device wraps one of them, so that
// errors.Is tells them apart on the GPU and on the emulator alike.
var (
	// Before a launch.
	ErrArgument    = errors.New("invalid argument")     // of a call or a launch
	ErrShape       = errors.New("invalid launch shape") // beyond the device's limits
	ErrMalformed   = errors.New("malformed PTX")        // does not parse or check
	ErrUnsupported = errors.New("unsupported")          // valid, not done by this device
	ErrNotFound    = errors.New("not found")            // no such entry, variable, device
	ErrMemory      = errors.New("out of memory")        // no room for a buffer
	ErrClosed      = errors.New("closed")               // freed buffer, closed device, lost context

	// While a launch runs.
	ErrOutOfBounds   = errors.New("out of bounds")       // address in no live buffer
	ErrFreed         = errors.New("use after free")      // address in a freed buffer
	ErrMisaligned    = errors.New("misaligned address")  // not a multiple of the access size
	ErrSpace         = errors.New("wrong address space") // such as ld.shared of a global address
	ErrUninitialized = errors.New("uninitialized read")  // memory or register never written
	ErrBarrier       = errors.New("divergent barrier")   // not all threads can reach it
	ErrMask          = errors.New("invalid lane mask")   // of a .sync operation
	ErrRace          = errors.New("race")                // of two threads, on shared or global memory
	ErrSameValue     = errors.New("equal stores")        // of two threads in one place, unordered: a note, never the error of a launch
	ErrLeak          = errors.New("memory leak")         // buffers that were never freed
	ErrTrap          = errors.New("trap")                // trap, assert
	ErrDivision      = errors.New("division by zero")    // of integers: a warning, never the error of a launch
	ErrHang          = errors.New("endless wait")        // no thread can ever go on
	ErrStepLimit     = errors.New("step limit reached")  // a launch that does not end
	ErrInterrupted   = errors.New("interrupted")
)

// Fault is an error of a running launch. Fields that a device cannot tell are
// zero.
type Fault struct {
	Kind        error  // one of the errors above
	Entry       string // the entry that ran
	Instruction string // "ld.global.f32"
	File        string // PTX file, as given to Load
	Line        int    // line in it
	Source      string // CUDA source line from .loc, "reduce.cu:41"; of a header, then ", called at reduce.cu:41"
	Block       *Dim   // nil where unknown
	Thread      *Dim
	Detail      string // the fact: "address 0x7f20 is 4 bytes past buffer x (1024 bytes)"
	Other       *Site  // of a race: the earlier of the two accesses; it is in Detail too

	// Cause is of a GPU's fault, which tells no thread and no line: the fault
	// of the same launch on the emulator. nil where none was found; Detail gives the reason.
	Cause *Fault
}

// Site is an instruction that a thread of the fault's block ran.
type Site struct {
	Instruction string
	Line        int
	Source      string
	Thread      Dim
}

// Error is one line: the place, the fact, the thread.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString("gpu: ")
	if f.Entry != "" {
		b.WriteString(f.Entry + ": ")
	}
	if f.Instruction != "" {
		b.WriteString(f.Instruction + " ")
	}
	switch {
	case f.File == "":
	case f.Source != "":
		fmt.Fprintf(&b, "at %s (%s:%d): ", f.Source, f.File, f.Line)
	default:
		fmt.Fprintf(&b, "at %s:%d: ", f.File, f.Line)
	}
	fmt.Fprintf(&b, "%v", f.Kind)
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	if f.Block != nil && f.Thread != nil {
		fmt.Fprintf(&b, ", block (%d,%d,%d) thread (%d,%d,%d)",
			f.Block.X, f.Block.Y, f.Block.Z, f.Thread.X, f.Thread.Y, f.Thread.Z)
	}
	if f.Cause != nil {
		b.WriteString("; on the emulator: " + strings.TrimPrefix(f.Cause.Error(), "gpu: "))
	}
	return b.String()
}

// Severity is the word that comes before a member of Launch.Warnings.
func (f *Fault) Severity() string {
	if f.Kind == ErrSameValue {
		return "note"
	}
	return "warning"
}

// At is the place of the fault: a line of the source, or else of the PTX.
func (f *Fault) At() string {
	if f.Source != "" {
		return f.Source
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// Unwrap lets errors.Is find the kind.
func (f *Fault) Unwrap() error { return f.Kind }
