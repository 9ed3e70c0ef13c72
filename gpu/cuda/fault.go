package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// Codes of the driver that are not faults and have their own error kind.
const (
	codeMemory      = 2
	codeUnavailable = 46
	codeNoImage     = 209 // nothing for this GPU
	codeInvalidPTX  = 218
	codeVersion     = 222 // PTX too new
	codeResources   = 701
	codeCooperative = 720
)

// faults are the codes after which a context is unusable, with the error kind of
// the launch that caused them. The driver's own text follows in the error.
var faults = map[int32]error{
	214: gpu.ErrMemory,      // ECC uncorrectable
	220: gpu.ErrTrap,        // NVLink uncorrectable
	700: gpu.ErrOutOfBounds, // illegal address
	702: gpu.ErrStepLimit,   // launch timeout, of a display's watchdog
	709: gpu.ErrTrap,        // context is destroyed
	710: gpu.ErrTrap,        // assert
	714: gpu.ErrTrap,        // hardware stack error
	715: gpu.ErrTrap,        // illegal instruction
	716: gpu.ErrMisaligned,  // misaligned address
	717: gpu.ErrSpace,       // invalid address space
	718: gpu.ErrOutOfBounds, // invalid program counter
	719: gpu.ErrTrap,        // launch failed: trap, and faults without their own code
	999: gpu.ErrTrap,        // unknown
}

var (
	errEnded = errors.New("the worker has ended")
	errNCCL  = errors.New("NCCL failed")
)

// judge turns an answer into an error. A fault ends the worker.
func (d *Device) judge(l *link, a command.Answer, what string) error {
	if a.Code == 0 {
		return nil
	}
	if kind, ok := faults[a.Code]; ok {
		return d.fault(l, kind, a)
	}
	kind := gpu.ErrArgument
	switch a.Code {
	case command.CodeInterrupted:
		kind = gpu.ErrInterrupted
	case command.CodeNCCL:
		kind = errNCCL
	case command.CodeMissing:
		kind = gpu.ErrNotFound
	case codeMemory:
		kind = gpu.ErrMemory
	case codeResources, codeCooperative:
		kind = gpu.ErrShape
	case codeNoImage, codeVersion:
		kind = gpu.ErrUnsupported
	case codeInvalidPTX:
		kind = gpu.ErrMalformed
	}
	return fmt.Errorf("cuda: %s: %w: %s", what, kind, a.Text)
}

// fault ends a worker whose context is unusable. The first reason counts.
func (d *Device) fault(l *link, kind error, a command.Answer) error {
	l.faulted.Do(func() {
		histories := d.recall.take()
		l.end(d.explain(l, kind, a, histories))
		for _, t := range histories {
			t.close()
		}
	})
	return l.err()
}

// explain collects all known facts about a fault.
func (d *Device) explain(l *link, kind error, a command.Answer, histories []*history) *gpu.Fault {
	f := &gpu.Fault{Kind: kind, Detail: a.Text}
	var shapes []string
	for _, s := range a.Suspects {
		shapes = append(shapes, shapeText(s))
	}
	switch len(a.Suspects) {
	case 0:
	case 1:
		f.Entry = a.Suspects[0].Entry
		f.Detail += ", launched as " + shapeText(a.Suspects[0])
	default:
		for i, s := range a.Suspects {
			shapes[i] = s.Entry + " " + shapes[i]
		}
		slices.Sort(shapes)
		f.Detail += ", in one of " + strings.Join(slices.Compact(shapes), "; ")
	}
	f.Detail += d.losses(l)
	if !slices.Contains(replayed, kind) {
		return f
	}
	var note string
	if f.Cause, note = d.cause(histories, l, a.Suspects); note != "" {
		f.Detail += "; cause unknown: " + note
	}
	return f
}

// replayed are the faults whose exact cause the emulator can find.
var replayed = []error{gpu.ErrOutOfBounds, gpu.ErrMisaligned, gpu.ErrSpace, gpu.ErrTrap}

func shapeText(s command.Suspect) string {
	text := fmt.Sprintf("grid (%d,%d,%d) block (%d,%d,%d)", s.Grid[0], s.Grid[1], s.Grid[2], s.Block[0], s.Block[1], s.Block[2])
	if s.Shared > 0 {
		text += fmt.Sprintf(" with %d bytes of shared memory", s.Shared)
	}
	return text
}

// named bounds how many lost buffers an error names.
const named = 8

// losses ends an error with the buffers that are lost with a worker.
func (d *Device) losses(l *link) string {
	var names []string
	for _, a := range d.living(l) {
		if !a.kept.Load() {
			names = append(names, a.name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("%d more", more))
	}
	return "; lost: " + strings.Join(names, ", ")
}

// died is the reason of a worker that ended without a command to end.
func (l *link) died(state error) error {
	how := "exit status 0"
	if state != nil {
		how = state.Error()
	}
	if errors.Is(state, os.ErrProcessDone) {
		how = "its process is gone"
	}
	f := &gpu.Fault{Kind: gpu.ErrClosed, Detail: "the worker ended: " + how + l.output.suffix()}
	l.blame(f)
	return f
}

// blame attributes a fault to the last launch.
func (l *link) blame(f *gpu.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Entry != "" {
		f.Entry = l.last.Entry
		f.Detail += ", launched last as " + shapeText(l.last)
	}
}
