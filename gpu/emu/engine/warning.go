package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"warpbook/gpu"
	"warpbook/gpu/ptx"
)

// This file finds defects that end no launch on a GPU, and explains traps that compilers
// insert where a program is wrong.

// warnings are those of a launch: the first of each instruction.
type warnings struct {
	mu    sync.Mutex
	found map[*ptx.Instruction]*gpu.Fault // guarded by mu
}

// warn notes a warning, unless its instruction has one.
func (w *warp) warn(in *instr, lane int, kind error, format string, args ...any) {
	f := w.block.newFault(in, kind, fmt.Sprintf(format, args...))
	thread := w.block.thread(w.index*32 + lane)
	f.Thread = &thread
	w.block.launch.warned.add(in, f)
}

// undefinedUse reports a use of a value that is undefined: as a fault, or as a warning in a
// launch that goes on. It returns whether the launch goes on.
func (w *warp) undefinedUse(in *instr, lane int, kind error, format string, args ...any) bool {
	switch l := w.block.launch; {
	case !l.goOn:
		w.fail(in, lane, kind, format, args...)
	case !l.warned.has(in):
		w.warn(in, lane, kind, format, args...)
	}
	return w.block.launch.goOn
}

// known reports whether a use of an undefined value by an instruction needs no report: the
// launch goes on, and has one. Reports are slow to make, and a loop asks often.
func (l *Launch) known(in *instr) bool { return l.goOn && l.warned.has(in) }

// has reports whether an instruction has a warning.
func (w *warnings) has(in *instr) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.found[in.src] != nil
}

// add notes a warning, unless its instruction has one.
func (w *warnings) add(in *instr, f *gpu.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found[in.src] != nil {
		return
	}
	if w.found == nil {
		w.found = map[*ptx.Instruction]*gpu.Fault{}
	}
	w.found[in.src] = f
}

// list are the warnings by their lines.
func (w *warnings) list() []*gpu.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*gpu.Fault
	for _, f := range w.found {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *gpu.Fault) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Instruction, b.Instruction)) })
	return racesByLine(all)
}

// warpBarrier orders the threads of a warp alone.
const warpBarrier = "__syncwarp()"

// racesByLine keeps one race of each line of the source, with the number of others: the read and
// the write of s[t] += s[t + 1] lack one barrier. It is the first one, unless that asks for a
// barrier of the warp and another one for more.
func racesByLine(all []*gpu.Fault) (kept []*gpu.Fault) {
	ofLine, first := map[string]int{}, map[string]int{}
	withinWarp := func(f *gpu.Fault) bool { return strings.Contains(f.Detail, "put "+warpBarrier) }
	for _, f := range all {
		if f.Kind == gpu.ErrRace && f.Source != "" {
			if ofLine[f.Source]++; ofLine[f.Source] > 1 {
				if at := first[f.Source]; withinWarp(kept[at]) && !withinWarp(f) {
					kept[at] = f
				}
				continue
			}
			first[f.Source] = len(kept)
		}
		kept = append(kept, f)
	}
	for source, i := range first {
		if more := ofLine[source] - 1; more > 0 {
			one := *kept[i] // the launch keeps the warning as it is
			one.Detail += fmt.Sprintf("; other accesses of the line that race: %d", more)
			kept[i] = &one
		}
	}
	return kept
}

// before names the warnings of other lines, which may be the cause of a fault.
func (w *warnings) before(fault *gpu.Fault) (text string) {
	for _, f := range w.list() {
		if f.Line == fault.Line {
			continue
		}
		at := f.Source
		if at == "" {
			at = fmt.Sprintf("line %d", f.Line)
		}
		text += fmt.Sprintf("; before it, %v at %s", f.Kind, at)
	}
	return text
}

// mostWarnings is how many warnings of a launch are printed.
const mostWarnings = 8

// deliver passes the warnings of a launch to its caller, or prints them.
func (l *Launch) deliver() {
	all := l.warned.list()
	if l.into.warnings != nil {
		*l.into.warnings = all
		return
	}
	for i, f := range all {
		if i == mostWarnings {
			fmt.Fprintf(l.engine.output(), "warning: %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(l.engine.output(), "%s: %v\n", f.Severity(), f)
	}
}

// constantWritten is the fault of a write of constant memory through a pointer; it
// reports whether the write is one.
func (w *warp) constantWritten(in *instr, p place, m uint32) bool {
	if !w.block.checks.Has(gpu.CheckBounds) {
		return false
	}
	l := lowest(m) & 31
	w.fail(in, l, gpu.ErrSpace, "it writes byte %d of %s, which is __constant__: a kernel can only read it; declare it __device__, or write it from Go by Module.Global and Upload",
		w.addr[l], p.allocation.Name())
	return true
}

// trapped explains why a kernel trapped. A trap in the source has a line; one that the
// compiler has put in place of undefined code has none. CUDA's grid.sync() traps where it
// finds no memory of a cooperative launch.
func (l *Launch) trapped(in *instr) string {
	p := l.prog
	switch {
	case l.workspace == nil && p.ofGridSync(in.src):
		return "grid.sync() in a launch that is not cooperative: set Cooperative: true in gpu.Launch, so that all blocks run at once"
	case in.src.Source.Line != 0 || len(p.files) == 0:
		return "the kernel ended itself"
	}
	why := "a write through a null pointer, or another operation that C++ leaves undefined"
	if len(p.constants) > 0 {
		why = fmt.Sprintf("most likely a write of constant memory (%s), which a kernel can only read: declare it __device__, or write it from Go by Module.Global and Upload; or else ", strings.Join(p.constants, ", ")) + why
	}
	return "the compiler has put this trap in place of code that cannot be right: " + why
}

// ofGridSync reports whether a trap is that of CUDA's grid.sync(): a branch on the address
// of the memory of a cooperative launch leads to it.
func (p *Program) ofGridSync(trap *ptx.Instruction) bool {
	code, from := p.inlined.Code, p.fromWorkspace()
	leads := func(in ptx.Instruction) bool { return in.Opcode == "bra" && from[in.Guard] }
	start := slices.IndexFunc(code, func(in ptx.Instruction) bool { return in.Pos == trap.Pos })
	labelled := map[int]bool{}
	for _, at := range p.inlined.Labels {
		labelled[at] = true
	}
	for start > 0 && !labelled[start] && code[start-1].Opcode != "bra" {
		start--
	}
	return start > 0 && leads(code[start-1]) || slices.ContainsFunc(code, func(in ptx.Instruction) bool {
		return leads(in) && p.inlined.Labels[in.Operands[0].Symbol] == start
	})
}

// fromWorkspace are the registers that are computed from that address, which is in %envreg1
// and %envreg2. What is read there is not followed.
func (p *Program) fromWorkspace() map[int]bool {
	from := map[int]bool{}
	var has func(o ptx.Operand) bool
	has = func(o ptx.Operand) bool {
		return strings.HasPrefix(o.Symbol, "%envreg") || o.Kind == ptx.RegisterOperand && from[o.Reg] || slices.ContainsFunc(o.Elems, has)
	}
	for before := -1; before != len(from); {
		before = len(from)
		for _, in := range p.inlined.Code {
			if in.Opcode != "ld" && len(in.Operands) > 1 && in.Operands[0].Kind <= ptx.PairOperand && slices.ContainsFunc(in.Operands[1:], has) {
				from[in.Operands[0].Reg] = true
			}
		}
	}
	return from
}
