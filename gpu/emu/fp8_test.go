package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestFP8Conversions: the first source is the upper byte, a number that is too large
// becomes the largest number, and pairs of f16 come back exactly. Not compared with a
// GPU.
func TestFP8Conversions(t *testing.T) {
	for text, want := range map[string]uint32{
		"cvt.rn.satfinite.e4m3x2.f32 %h2, 0f3F800000, 0fC4000000; cvt.u32.u16 %r2, %h2;":         0x38fe, // 1, -512
		"cvt.rn.satfinite.e5m2x2.f32 %h2, 0f7F800000, 0f3FA00000; cvt.u32.u16 %r2, %h2;":         0x7b3d, // infinity, 1.25
		"cvt.rn.satfinite.relu.e4m3x2.f32 %h2, 0fBF800000, 0f7FC00000; cvt.u32.u16 %r2, %h2;":    0x007f, // -1, NaN
		"mov.b32 %r2, 0x3c00c000; cvt.rn.satfinite.e4m3x2.f16x2 %h2, %r2; cvt.u32.u16 %r2, %h2;": 0x38c0, // 1, -2
		"mov.b16 %h2, 0x38c0; cvt.rn.f16x2.e4m3x2 %r2, %h2;":                                     0x3c00c000,
		"mov.b16 %h2, 0x0101; cvt.rn.f16x2.e4m3x2 %r2, %h2;":                                     0x18001800, // 2^-9
		"mov.b16 %h2, 0x7c01; cvt.rn.f16x2.e5m2x2 %r2, %h2;":                                     0x7c000100, // infinity, 2^-16
		"mov.b16 %h2, 0xbc7f; cvt.rn.relu.f16x2.e4m3x2 %r2, %h2;":                                0x00007fff, // negative, NaN
	} {
		d, e := loadEntry(t, strings.Replace(kernel(".reg .b16 %h<4>;", text+" st.global.u32 [%q1], %r2;"), "sm_80", "sm_90", 1), "op")
		j := &job{T: t, device: d}
		y := j.alloc("y", make([]uint32, 1))
		if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{y, y, uint32(1)}}); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		out := make([]uint32, 1)
		if err := y.Download(out); err != nil || out[0] != want {
			t.Errorf("%s gives %#08x, %v, expected %#08x", text, out[0], err, want)
		}
	}
	d, _ := Open("")
	m, err := d.Load("old.ptx", kernel(".reg .b16 %h<4>;", "cvt.rn.satfinite.e4m3x2.f32 %h2, %f0, %f1;"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Entry("op"); !errors.Is(err, gpu.ErrMalformed) {
		t.Errorf("before sm_89: %v, expected it malformed", err)
	}
}

// TestMovmatrix transposes numbered elements. Not compared with a GPU.
func TestMovmatrix(t *testing.T) {
	j := newJob(t, "", `mul.lo.u32 %r2, %t, 2; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r2, %r2, %r3;
	movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2; st.global.u32 [%p1], %r2;`, 1, 32)
	if err := j.device.Launch(j.launch); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, 32)
	if err := j.p1.Download(out); err != nil {
		t.Fatal(err)
	}
	for lane, v := range out {
		row, column := lane/4, lane%4*2
		if want := uint32(column*8+row) | uint32((column+1)*8+row)<<16; v != want {
			t.Errorf("lane %d has %#08x, expected %#08x", lane, v, want)
		}
	}
}
