package simd

import (
	"fmt"
	"testing"
	"unsafe"
)

// BenchmarkSteps is the time of runs of one step and of 32 of some operations in all
// lanes: the difference is what a call costs.
func BenchmarkSteps(b *testing.B) {
	if Best == NoVectors {
		b.Skip("no vector instructions, or they are switched off")
	}
	const zeros = 8 * 32 * 4
	slots, preds := make([]uint32, 9*32), []uint32{all}
	for i := range slots[:zeros/4] {
		slots[i] = 0x3f800000 + uint32(i) // from 1.0 on
	}
	for _, of := range []struct {
		name string
		op   Op
		a, c uint32
	}{
		{"add.u32", Add32, 256, 768}, {"add.f32", AddF32, 256, 768}, {"fma.f32", FmaF32, 256, 768}, {"fma.f32 of 0", FmaF32, zeros, zeros},
		{"add.u64", Add64, 256, 768}, {"mul.wide.s32", MulWideS, 256, 768}, {"setp.lt.s32", LessS32, 256, 768},
	} {
		var steps [32]Step
		for i := range steps {
			steps[i] = Step{Op: of.op, A: of.a, B: 512, C: of.c}
		}
		for _, n := range []int{1, len(steps)} {
			b.Run(fmt.Sprintf("%s/%v/%d", of.name, Best, n), func(b *testing.B) {
				r := &Run{Steps: &steps[0], Slots: unsafe.Pointer(&slots[0]), Preds: &preds[0], Mask: all}
				for b.Loop() {
					r.N = n
					Best.Run(r)
				}
			})
		}
	}
}
