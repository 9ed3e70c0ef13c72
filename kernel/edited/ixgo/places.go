//go:build ignore

package ixgo

import (
	"go/ast"
	"go/token"
	"runtime"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Outer is the frame of the caller, nil at the first frame of an interpreter.
func (fr *frame) Outer() *frame {
	if fr.caller == nil || fr.caller.pfn == nil {
		return nil
	}
	return fr.caller
}

// Above reports whether a frame is another one, or its caller.
func (fr *frame) Above(x *frame) bool { return fr == x || x.caller == fr }

// Place is the name of a frame's function as the runtime gives it, and the file and line
// of its current call. The name of a function that the compiler has made is empty.
func (fr *frame) Place() (function, file string, line int) {
	if fr.pfn == nil {
		return "", "", 0
	}
	p := fr.pfn.PositionForPC(fr.ipc - 1)
	name, made := fixedFuncName(fr.pfn.Fn)
	if made {
		name = ""
	}
	return name, p.Filename, p.Line
}

// Literal is the function literal of a frame, nil for a declared function.
func (fr *frame) Literal() *ast.FuncLit {
	if fr.pfn == nil {
		return nil
	}
	lit, _ := fr.pfn.Fn.Syntax().(*ast.FuncLit)
	return lit
}

// PC is the program counter of a frame's current call, as runtime.Callers gives it to
// interpreted code.
func (fr *frame) PC() uintptr { return fr.pc() }

// mostPlaces is the number of calls that a stack describes.
const mostPlaces = 64

// Stack are the calls of a goroutine at one time. Most panics are recovered, and nothing
// asks for their places.
type Stack struct {
	interp *Interp
	pcs    []uintptr // the innermost first
}

// Stack are the calls from a frame outwards.
func (fr *frame) Stack() Stack {
	s := Stack{interp: fr.interp, pcs: make([]uintptr, 0, 16)}
	for ; fr.valid() && len(s.pcs) < mostFrames; fr = fr.caller {
		for p := fr._panic; p != nil; p = p.link {
			s.pcs = append(s.pcs, p.pcs...)
		}
		s.pcs = append(s.pcs, fr.pc())
	}
	return s
}

// Frames describes the calls, as CallerFrames does.
func (s Stack) Frames() (frames []runtime.Frame) {
	var pcs []uintptr
	for _, pc := range s.pcs {
		if fn := findFuncByPC(s.interp, int(pc)); len(pcs) < mostPlaces && (fn == nil || !isWrapperFuncName(fn.Fn.String())) {
			pcs = append(pcs, pc)
		}
	}
	fr, list := &frame{interp: s.interp}, runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = runtimeFramesNext(fr, list)
		frames = append(frames, f)
	}
	return frames
}

// At is the place of a program counter of the interpreter of a frame.
func (fr *frame) At(pc uintptr) (function, file string, line int) {
	if fr.interp == nil {
		return "", "", 0
	}
	f, _ := runtimeFramesNext(fr, runtime.CallersFrames([]uintptr{pc}))
	return f.Function, f.File, f.Line
}

// positionOf is the position of an instruction. If package ssa gives it none, it is that of
// an instruction that uses its value, or of one that runs before it: a method value reads
// the variable behind a nil pointer, and a loop over a function panics when this returns.
func positionOf(instr ssa.Instruction) token.Pos {
	if pos := instr.Pos(); pos.IsValid() {
		return pos
	}
	if v, ok := instr.(ssa.Value); ok && v.Referrers() != nil {
		for _, r := range *v.Referrers() {
			if r.Block() == instr.Block() && r.Pos().IsValid() {
				return r.Pos()
			}
		}
	}
	before := instr.Block().Instrs
	before = before[:slices.Index(before, instr)]
	for b := instr.Block(); ; before = b.Instrs {
		for _, i := range slices.Backward(before) {
			if pos := ownPosition(i); pos.IsValid() {
				return pos
			}
		}
		if b = b.Idom(); b == nil {
			return token.NoPos
		}
	}
}

// ownPosition is the position of an instruction, for the call of a function that a loop
// ranges over that of the loop.
func ownPosition(instr ssa.Instruction) token.Pos {
	switch x := instr.(type) {
	case *ssa.Phi: // has the position of its variable
		return token.NoPos
	case *ssa.Call:
		if !x.Pos().IsValid() && len(x.Call.Args) == 1 {
			return bodyOf(x.Call.Args[0]).Pos()
		}
	}
	return instr.Pos()
}

// bodyOf is the function of a closure.
func bodyOf(v ssa.Value) ssa.Value {
	if c, ok := v.(*ssa.MakeClosure); ok {
		return c.Fn
	}
	return v
}
