//go:build ignore && !go1.27

package abi

// mapSlots is what Go 1.24 to 1.26 say about the slots of a map after the fields
// that all versions have.
type mapSlots struct {
	SlotSize uintptr
	ElemOff  uintptr
	Flags    uint32
}
