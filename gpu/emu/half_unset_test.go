package emu

import (
	"errors"
	"testing"

	"warpbook/gpu"
)

// TestUnsetHalf: packing a half that was never written is no fault, nor is a computation
// with each half alone. A use of that half is one. Clang packs such a half where CUDA C++
// makes two equal halves and uses one of them.
func TestUnsetHalf(t *testing.T) {
	const low, high = "mov.b32 %r2, {%h0, %h1};", "mov.b32 %r2, {%h1, %h0};"
	for _, c := range []struct {
		name, body string
		thread     int // of the fault, -1 for none
	}{
		{"convert the low half", low + "cvt.u16.u32 %h2, %r2;", -1},
		{"unpack the low half", low + "mov.b32 {%h2, _}, %r2;", -1},
		{"unpack both halves", low + "mov.b32 {%h2, %h3}, %r2;", -1},
		{"unpack the high half", high + "mov.b32 {%h3, %h2}, %r2;", -1},
		{"bits", low + "xor.b32 %r3, %r2, 65537; not.b32 %r3, %r3; and.b32 %r3, %r3, %r2; or.b32 %r3, %r3, %r2; cvt.u16.u32 %h2, %r3;", -1},
		{"sum of halves", low + "mov.b32 %r3, 0; add.f16x2 %r3, %r2, %r3; neg.f16x2 %r3, %r3; neg.f16x2 %r3, %r3; mov.b32 {%h2, _}, %r3;", -1},
		{"copy", low + "mov.b32 %r3, %r2; selp.b32 %r4, %r3, %t, %a0; selp.b32 %r4, %r3, %r4, %a1; cvt.u16.u32 %h2, %r4;", -1},
		{"shuffle", low + "shfl.sync.idx.b32 %r3, %r2, %t, 31, -1; cvt.u16.u32 %h2, %r3;", -1},
		{"pack again", low + "mov.b32 {%h2, _}, %r2; mov.b32 %r3, {%h2, %h2}; mov.b32 {_, %h2}, %r3;", -1},
		{"write it later", low + "mov.b32 {%h2, _}, %r2; mov.u32 %r2, 1; st.global.u32 [%p0], %r2;", -1},
		{"write it in some threads", "@%a0 mov.u16 %h1, 3; " + low + "@%a0 st.global.u32 [%p0], %r2; mov.b32 {%h2, _}, %r2;", -1},

		{"use the high half", low + "mov.b32 {%h2, %h3}, %r2; add.u16 %h2, %h2, %h3;", 0},
		{"use the low half", high + "cvt.u16.u32 %h2, %r2; add.u16 %h2, %h2, 0;", 0},
		{"store both", low + "mov.b32 {%h2, _}, %r2; st.global.u32 [%p0], %r2;", 0},
		{"add words", low + "add.u32 %r2, %r2, 1; cvt.u16.u32 %h2, %r2;", 0},
		{"saturate", low + "cvt.sat.u16.u32 %h2, %r2;", 0},
		{"widen", low + "cvt.u64.u32 %d1, %r2; mov.b32 {%h2, _}, %r2;", 0},
		{"the high half of a sum", low + "mov.b32 %r3, 0; add.f16x2 %r3, %r3, %r2; mov.b32 {%h2, %h3}, %r3; mov.b16 %h2, %h3;", 0},
		{"the high half of bits", low + "and.b32 %r3, %r2, 65535; mov.b32 {%h2, %h3}, %r3; add.u16 %h2, %h3, 0;", 0},
		{"the low half of a copy", high + "mov.b32 %r3, %r2; mov.b32 {%h2, _}, %r3;", 0},
		{"written in other threads", "@%a0 mov.u16 %h1, 3; " + low + "mov.b32 {%h2, _}, %r2; st.global.u32 [%p0], %r2;", 8},
		{"pack in a wider register", low + "mov.b32 {%h2, _}, %r2; mov.b64 %d1, {%r2, %r2}; st.global.u64 [%q0], %d1;", 0},
		{"a register beside it", low + "add.f16x2 %r3, %r2, %r30; mov.b32 {%h2, _}, %r3;", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, ".reg .b16 %h<8>;", "setp.lt.u32 %a0, %t, 8; setp.lt.u32 %a1, %t, 64; ld.global.u16 %h0, [%p0];"+c.body+"st.global.u16 [%p1], %h2;", 1, 64)
			if c.thread < 0 {
				j.expect(func(i int) uint32 { return uint32(i) })
				return
			}
			var f *gpu.Fault
			if err := j.device.Launch(j.launch); !errors.As(err, &f) || f.Kind != gpu.ErrUninitialized || f.Thread.X != c.thread {
				t.Errorf("%v, expected an uninitialized read by thread %d", err, c.thread)
			} else if c.name == "a register beside it" && f.Instruction != "add.f16x2" {
				t.Errorf("%v, expected a fault at the sum: no half of %%r30 is packed", err)
			}
		})
	}
}
