//go:build ignore && go1.27

package abi

// mapSlots is what Go 1.27 says about the slots of a map after the fields that all
// versions have.
type mapSlots struct {
	KeysOff    uintptr
	KeyStride  uintptr
	ElemsOff   uintptr
	ElemStride uintptr
	ElemOff    uintptr
	Flags      uint32
}
