package bytecode

import (
	"strings"
	"unsafe"
)

// registers are the numbers of a call and of all its callees; pointers lie beside them.
// Both are views of larger memory: the compiler of this package uses only registers that
// exist.
type (
	registers [1 << 16]uint64
	pointers  [1 << 16]unsafe.Pointer
)

func f64(x uint64) float64 { return *(*float64)(unsafe.Pointer(&x)) }
func f32(x uint64) float32 { y := uint32(x); return *(*float32)(unsafe.Pointer(&y)) }
func b64(x float64) uint64 { return *(*uint64)(unsafe.Pointer(&x)) }
func b32(x float32) uint64 { return uint64(*(*uint32)(unsafe.Pointer(&x))) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

type stringHeader struct {
	data unsafe.Pointer
	len  uint64
}

// text is the string in register k.
func text(r *registers, p *pointers, k uint16) string {
	return unsafe.String((*byte)(p[k]), int(r[k]))
}

func setText(r *registers, p *pointers, k int, s string) {
	p[k], r[k], r[k+1] = unsafe.Pointer(unsafe.StringData(s)), uint64(len(s)), uint64(len(s))
}

// concat is the concatenation of the strings in registers.
func concat(r *registers, p *pointers, list []int) string {
	if len(list) == 2 {
		return text(r, p, uint16(list[0])) + text(r, p, uint16(list[1]))
	}
	var space [8]string
	all := space[:0]
	for _, k := range list {
		all = append(all, text(r, p, uint16(k)))
	}
	return strings.Join(all, "")
}
