package emu

import (
	"testing"

	"warpbook/gpu"
)

// TestPairComparison: setp of a pair gives each half a predicate, and takes NaN as a comparison
// of one does.
func TestPairComparison(t *testing.T) {
	const text = `.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<2>;
  .reg .pred %p<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [a];
  ld.param.u32 %r2, [b];
  setp.gt.f16x2 %p1|%p2, %r1, %r2;
  setp.leu.and.f16x2 %p3|%p4, %r1, %r2, %p1;
  selp.b32 %r3, 1, 0, %p1;
  selp.b32 %r4, 2, 0, %p2;
  selp.b32 %r5, 4, 0, %p3;
  selp.b32 %r6, 8, 0, %p4;
  or.b32 %r7, %r3, %r4;
  or.b32 %r8, %r5, %r6;
  or.b32 %r7, %r7, %r8;
  st.global.u32 [%rd1], %r7;
  ret;
}
`
	d, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.Load("pair.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("k")
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(gpu.Uint32, 1)
	if err != nil {
		t.Fatal(err)
	}
	const one, two, nan = 0x3c00, 0x4000, 0x7e00
	for _, c := range []struct{ a, b, want uint32 }{
		{two<<16 | one, one<<16 | one, 2},     // the upper half alone is greater: the first predicate is false
		{one<<16 | two, two<<16 | one, 1 | 8}, // the lower half is greater, the upper one is not
		{nan<<16 | two, one<<16 | one, 1 | 8}, // NaN is greater than nothing, and unordered
		{two<<16 | two, one<<16 | one, 1 | 2}, // both
		{one<<16 | nan, one<<16 | one, 0},     // neither
	} {
		got := make([]uint32, 1)
		if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{out, c.a, c.b}}); err != nil {
			t.Fatal(err)
		}
		if err := out.Download(got); err != nil || got[0] != c.want {
			t.Errorf("%#x, %#x: %04b, %v, expected %04b", c.a, c.b, got[0], err, c.want)
		}
	}
}
