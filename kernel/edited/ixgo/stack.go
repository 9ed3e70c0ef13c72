//go:build ignore

package ixgo

import (
	"unsafe"

	_ "github.com/timandy/routine" // defines getgp
)

// A call of an interpreted function checks how much stack its goroutine uses. Compiled
// functions that call it, such as sort.Slice or json.Marshal, are counted with it.

// maxStack is the number of bytes beyond which a call panics with overflow.
var (
	maxStack = ^uintptr(0)
	overflow error
)

const (
	unwindingFactor = 3  // deferred calls of a goroutine that has overflowed may use this multiple
	unwindingCalls  = 16 // frames above a call that are searched for one that panics
)

// LimitStack makes calls of interpreted functions panic with err where the stack of their
// goroutine has more bytes. It is called before any interpreter runs.
func LimitStack(bytes uintptr, err error) { maxStack, overflow = bytes, err }

// CheckStack panics if the stack of this goroutine is too large. It is for calls that make
// no frame.
func CheckStack() {
	if stackBytes() > maxStack {
		panic(overflow)
	}
}

// checkStack panics if the stack of this goroutine is too large for a call by caller.
func checkStack(caller *frame) {
	used := stackBytes()
	if used <= maxStack {
		return
	}
	if used <= unwindingFactor*maxStack {
		for i, fr := 0, caller; i < unwindingCalls && fr != nil; i, fr = i+1, fr.caller {
			if !fr._panic.isNil() {
				return
			}
		}
	}
	panic(overflow)
}

// stackBytes is the part of its stack that this goroutine uses. The runtime describes a
// goroutine by a struct that begins with the bounds of its stack.
func stackBytes() uintptr {
	var here byte
	g := getgp()
	return *(*uintptr)(unsafe.Add(g, unsafe.Sizeof(uintptr(0)))) - uintptr(unsafe.Pointer(&here))
}

// getgp is the runtime's description of this goroutine.
//
//go:linkname getgp runtime.getgp
func getgp() unsafe.Pointer
