//go:build ignore

package ixgo

import (
	"go/ast"
	"runtime"
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

// At is the place of a program counter of the interpreter of a frame.
func (fr *frame) At(pc uintptr) (function, file string, line int) {
	if fr.interp == nil {
		return "", "", 0
	}
	f, _ := runtimeFramesNext(fr, runtime.CallersFrames([]uintptr{pc}))
	return f.Function, f.File, f.Line
}
