package trace

import (
	"fmt"
	"strings"
	"testing"
)

// Accesses to global and shared memory are noted, with their guards; others are not.
func TestInstrument(t *testing.T) {
	text, all := instrument(`.version 8.0
.target sm_75
.address_size 64
	.loc 1 7 3
	@%p1 ld.global.nc.f32 	%f1, [%rd4+-8];
	st.shared.v4.f32 	[s+16], {%f1, %f2, %f3, %f4};
	ld.shared.u32 %r3, [%r2];
	red.global.add.f32 [%rd1], %f1;
	ld.param.u64 %rd1, [p];
	ld.local.u32 %r3, [%r2];
	bar.sync 0;
`, nil)
	var got []string
	for _, n := range all {
		got = append(got, fmt.Sprint(n.Kind, n.Shared, n.Bytes, n.Line))
	}
	if fmt.Sprint(got) != "[0 false 4 7 1 true 16 7 0 true 4 7 2 false 4 7 3 false 0 7]" {
		t.Errorf("instructions %v", got)
	}
	for _, want := range []string{"@%p1 mov.u64 %wbA, %rd4; @%p1 add.s64 %wbA, %wbA, -8;", "mov.u64 %wbA, s; add.s64 %wbA, %wbA, 16;", "cvt.u64.u32 %wbA, %r2;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
