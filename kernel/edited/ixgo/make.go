//go:build ignore

package ixgo

import (
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// mostBytes is more than any address space has.
const mostBytes = 1 << 48

// checkMake panics as Go does if a slice cannot be made.
func checkMake(fr *frame, instr *ssa.MakeSlice, typ reflect.Type, length, capacity int) {
	most := mostBytes / max(1, typ.Elem().Size())
	switch {
	case uintptr(length) > most:
		panic(fr.runtimeError(instr, "makeslice: len out of range"))
	case capacity < length || uintptr(capacity) > most:
		panic(fr.runtimeError(instr, "makeslice: cap out of range"))
	}
}
