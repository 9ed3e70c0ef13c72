package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// A device that goes on prints a warning for a read of uninitialised memory, once for
// each instruction, and runs the launch to its end; any other device ends the launch.
func TestGoOn(t *testing.T) {
	const text = `.version 8.0
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
	.reg .b32 %r<3>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r2, [%rd4];
	st.global.u32 [%rd5], %r2;
	ret;
}
`
	for _, on := range []bool{false, true} {
		dev, entry := loadEntry(t, text, "copy")
		defer dev.Close()
		dev.GoOn(on)
		from, err1 := dev.Alloc(gpu.Uint32, 64)
		to, err2 := dev.Alloc(gpu.Uint32, 64)
		if err := errors.Join(err1, err2, dev.Zero(to)); err != nil {
			t.Fatal(err)
		}
		var warnings []*gpu.Fault
		err := dev.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{from, to}, Warnings: &warnings})
		got := make([]uint32, 64)
		if err := to.Download(got); err != nil {
			t.Fatal(err)
		}
		if !on && (!errors.Is(err, gpu.ErrUninitialized) || len(warnings) != 0) {
			t.Errorf("a device that does not go on: %v, %v", err, warnings)
		}
		if on && (err != nil || len(warnings) != 1 || warnings[0].Kind != gpu.ErrUninitialized || warnings[0].Line != 13 || got[63] != 1<<32-1) {
			t.Errorf("a device that goes on: %v, %v, %x", err, warnings, got[63])
		}
	}
}

// sourced is a job whose PTX is of a source: line 3 is that of the body.
func sourced(t *testing.T, declarations, body string, source ...string) (j *job, read *int) {
	t.Helper()
	d, e := loadEntry(t, strings.Replace(kernel(declarations, ".loc 1 3 3\n"+body), ".visible", ".file 1 \"x.cu\"\n.visible", 1), "op")
	j, read = &job{T: t, device: d}, new(int)
	b := j.alloc("x", make([]uint32, 32))
	j.launch = gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{b, b, uint32(1)}, Source: &gpu.Source{Line: func(at string) string {
		*read++
		for i, line := range source {
			if at == "x.cu:"+string(rune('1'+i)) {
				return line
			}
		}
		return ""
	}}}
	return j, read
}

// The warnings of a loop that reads an uninitialised register look up the source once.
func TestGoOnInALoop(t *testing.T) {
	j, read := sourced(t, "", "mov.u32 %r5, 0; again: add.u32 %r3, %r2, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %a0, %r5, %n; @%a0 bra again; st.global.u32 [%p1], %r3;",
		"__global__ void op(float* x, float* y, int n) {", "float sum;", "sum += 1;")
	j.device.GoOn(true)
	var warnings []*gpu.Fault
	j.launch.Args[2], j.launch.Warnings = uint32(100), &warnings
	if err := j.device.Launch(j.launch); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "sum was never written") {
		t.Fatalf("%v, %v, expected a warning of sum", err, warnings)
	}
	if *read > 10 {
		t.Errorf("%d lines of the source were read in 100 iterations, expected those of one warning: at most 10", *read)
	}
}

// An array of the source with no elements names none.
func TestNoElements(t *testing.T) {
	j, _ := sourced(t, ".shared .align 4 .b8 s[64];", "mov.u32 %r2, s; ld.shared.u32 %r3, [%r2+8]; st.global.u32 [%p1], %r3;",
		"#define N 0", "__shared__ float s[4][N];", "y[0] = s[0][2];")
	if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrUninitialized) || !strings.Contains(err.Error(), ": byte 8 of shared variable s") {
		t.Errorf("%v, expected byte 8 of s", err)
	}
}

// A device that goes on reports, and does not end, a shuffle from a lane that does not come
// and a race in shared memory: both are undefined, and run on every GPU.
func TestGoOnAfterMasksAndRaces(t *testing.T) {
	for name, test := range map[string]struct {
		body string
		kind error
	}{
		"shuffle": {`
	setp.gt.u32 %p1, %r1, 15;
	@%p1 bra DONE;
	shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffff;
	st.global.u32 [%rd3], %r2;
DONE:`, gpu.ErrMask},
		"race": {`
	mov.u64 %rd4, s;
	mad.wide.u32 %rd4, %r1, 4, %rd4;
	st.shared.u32 [%rd4], %r1;
	xor.b32 %r3, %r1, 32;
	mov.u64 %rd5, s;
	mad.wide.u32 %rd5, %r3, 4, %rd5;
	ld.shared.u32 %r2, [%rd5];
	st.global.u32 [%rd3], %r2;`, gpu.ErrRace},
	} {
		text := ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 to) {\n.shared .align 4 .b8 s[256];\n.reg .b32 %r<4>;\n.reg .b64 %rd<6>;\n.reg .pred %p<2>;\n" +
			"ld.param.u64 %rd1, [to];\nmov.u32 %r1, %tid.x;\nmad.wide.u32 %rd3, %r1, 4, %rd1;" + test.body + "\nret;\n}\n"
		for _, on := range []bool{false, true} {
			dev, entry := loadEntry(t, text, "k")
			defer dev.Close()
			dev.GoOn(on)
			to, err := dev.Alloc(gpu.Uint32, 64)
			if err != nil {
				t.Fatal(err)
			}
			var warnings []*gpu.Fault
			err = dev.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{to}, Checks: gpu.CheckAll, Warnings: &warnings})
			if !on && !errors.Is(err, test.kind) {
				t.Errorf("%s: %v, expected the end of the launch", name, err)
			}
			if on && (err != nil || len(warnings) == 0 || warnings[0].Kind != test.kind) {
				t.Errorf("%s, on a device that goes on: %v, %v", name, err, warnings)
			}
		}
	}
}
