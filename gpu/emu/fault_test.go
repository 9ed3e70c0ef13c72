package emu

import (
	"errors"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu/simd"
)

// faultTests are kernels with one defect each: the fault, and the words that name it.
var faultTests = []struct {
	name, declarations, body string
	kind                     error
	thread                   int // in block 0, or -1
	says                     []string
}{
	{"past the end", "", "ld.global.u32 %r2, [%p0+4]; st.global.u32 [%p1], %r2;", gpu.ErrOutOfBounds, 63,
		[]string{"ld.global.u32", "test.ptx:21", "end 4 bytes past buffer input (256 bytes)", "block (0,0,0) thread (63,0,0)"}},
	{"before the start", "", "st.global.u32 [%p1+-8], 1;", gpu.ErrOutOfBounds, 0, []string{"8 bytes before buffer output"}},
	{"far away", "", "add.u64 %d1, %q0, 0x123456789000000; ld.global.u32 %r2, [%d1];", gpu.ErrOutOfBounds, 0, []string{"in no buffer"}},
	{"null", "", "mov.u64 %d1, 0; ld.global.u32 %r2, [%d1+16];", gpu.ErrOutOfBounds, 0, []string{"0x10", "null"}},
	{"misaligned", "", "ld.global.u32 %r2, [%p0+2];", gpu.ErrMisaligned, 0, []string{"multiple of 4", "byte 2 of buffer input"}},
	{"misaligned vector", "", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%p0];", gpu.ErrMisaligned, 1, []string{"multiple of 16"}},
	{"shared past the end", ".shared .align 4 .b8 s[128];", "mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], 1;",
		gpu.ErrOutOfBounds, 32, []string{"4 bytes at byte 128 of shared variable s (128 bytes) end 4 bytes past it"}},
	{"shared before the start", ".shared .align 4 .b8 s[128];", "mov.u32 %r2, s; st.shared.u32 [%r2+-4], 1;",
		gpu.ErrOutOfBounds, 0, []string{"4 bytes at byte -4 of shared variable s (128 bytes) start 4 bytes before it"}},
	{"shared before the start, 64 bits", ".shared .align 4 .b8 s[128];", "mov.u64 %d1, s; st.shared.u32 [%d1+-8], 1;",
		gpu.ErrOutOfBounds, 0, []string{"4 bytes at byte -8 of shared variable s (128 bytes) start 8 bytes before it"}},
	{"shared variable before the start", ".shared .align 4 .b8 a[64]; .shared .align 4 .b8 s[64];", "st.shared.u32 [a], 1; mov.u32 %r2, s; st.shared.u32 [%r2+-4], 1;",
		gpu.ErrOutOfBounds, 0, []string{"4 bytes at byte -4 of shared variable s (64 bytes) lie in byte 60 of shared variable a"}},
	{"misaligned shared", ".shared .align 4 .b8 s[128];", "mov.u32 %r2, s; st.shared.u32 [%r2+2], 1;",
		gpu.ErrMisaligned, 0, []string{"byte 2 of shared variable s, expected a multiple of 4"}},
	{"shared without any", "", "mov.u32 %r2, 0; st.shared.u32 [%r2], 1;", gpu.ErrOutOfBounds, 0, []string{"gave no shared memory", "Launch.Shared"}},
	{"global address in shared", ".shared .align 4 .b8 s[128];", "st.shared.u32 [%p0], 1;", gpu.ErrSpace, 0, []string{"buffer input"}},
	{"shared address in global", ".shared .align 4 .b8 s[128];", "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; st.global.u32 [%d1], 1;",
		gpu.ErrSpace, 0, []string{"shared memory"}},
	{"local past the end", ".local .align 4 .b8 m[16];", "mov.u64 %d1, m; add.u64 %d1, %d1, 16; st.local.u32 [%d1], 1;", gpu.ErrOutOfBounds, 0, []string{"local"}},
	{"shared never written", ".shared .align 4 .b8 s[512];", "mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], 1; bar.sync 0; ld.shared.u32 %r4, [%r2+128];",
		gpu.ErrUninitialized, 32, []string{"not all 4 bytes"}},
	{"shared half written", ".shared .align 4 .b8 s[4];", ".reg .b16 %h; mov.u16 %h, 1; st.shared.u16 [s], %h; ld.shared.u32 %r4, [s]; add.u32 %r4, %r4, 1;",
		gpu.ErrUninitialized, 0, nil},
	{"padding of shared memory that is used", ".shared .align 8 .b8 s[8];", "st.shared.u32 [s], %t; ld.shared.u64 %d1, [s]; st.shared.u64 [s], %d1; ld.shared.u64 %d2, [s]; shr.u64 %d2, %d2, 24; cvt.u32.u64 %r4, %d2; add.u32 %r4, %r4, 1; st.global.u32 [%p1], %r4;",
		gpu.ErrUninitialized, 0, []string{"ld.shared.u64", "shared variable s"}},
	{"local never written", ".local .align 4 .b8 m[16];", "ld.local.u32 %r2, [m+4];", gpu.ErrUninitialized, 0, []string{"local address 0x4"}},
	{"local never written, masked for another word", ".local .align 4 .b8 m[16];", "ld.local.u32 %r2, [m+4]; and.b32 %r3, %r2, -255; or.b32 %r4, %r3, 6; st.local.u32 [m], %r4;",
		gpu.ErrUninitialized, 0, []string{"local address 0x4"}},
	{"local never written, masked and used again", ".local .align 4 .b8 m[16];", "ld.local.u32 %r2, [m+4]; and.b32 %r3, %r2, -255; st.local.u32 [m+4], %r3; st.global.u32 [%p1], %r2;",
		gpu.ErrUninitialized, 0, []string{"local address 0x4"}},
	{"shared never written, a bit field", ".shared .align 4 .b8 s[16]; .local .align 4 .b8 m[4];", "st.local.u32 [m], 0; ld.shared.u32 %r2, [s]; and.b32 %r3, %r2, -255; st.shared.u32 [s], %r3;",
		gpu.ErrUninitialized, 0, []string{"shared variable s"}},
	{"the copy of a word never written", ".local .align 4 .b8 m[16];", "st.local.u32 [m+12], 1; ld.local.u32 %r2, [m+4]; st.local.u32 [m+12], %r2; ld.local.u32 %r3, [m+12]; add.u32 %r4, %r3, 1; st.global.u32 [%p1], %r4;",
		gpu.ErrUninitialized, 0, []string{"local address 0xc"}},
	{"a word never written that leaves local memory", ".local .align 4 .b8 m[16];", "setp.lt.u32 %a0, %t, 5; @%a0 st.local.u32 [m+4], %t; ld.local.u32 %r2, [m+4]; st.u32 [%p1], %r2;",
		gpu.ErrUninitialized, 6, []string{"st.u32", "of buffer output gets 4 bytes of local memory, none of which was written"}},
	{"a word never written that is an address", ".local .align 8 .b8 m[16];", "ld.local.u64 %d1, [m]; st.u32 [%d1], %t;",
		gpu.ErrUninitialized, 0, []string{"local address 0x0"}},
	{"register never written", "", "add.u32 %r3, %r2, 1; st.global.u32 [%p1], %r3;", gpu.ErrUninitialized, 0, []string{"register %r2", "add.u32"}},
	{"register written in a branch", "", "setp.lt.u32 %a0, %t, 40; @!%a0 bra past; mov.u32 %r2, 5; past: st.global.u32 [%p1], %r2;",
		gpu.ErrUninitialized, 40, []string{"register %r2"}},
	{"register written under a guard", "", "setp.lt.u32 %a0, %t, 40; @%a0 mov.u32 %r2, 5; st.global.u32 [%p1], %r2;",
		gpu.ErrUninitialized, 40, []string{"register %r2"}},
	{"predicate never written", "", "@%a5 bra past; st.global.u32 [%p1], 1; past:", gpu.ErrUninitialized, 0, []string{"register %a5"}},
	{"barrier of a number of threads that a warp exits before", "", "setp.ge.u32 %a0, %t, 32; @%a0 exit; bar.sync 0, 64;", gpu.ErrBarrier, -1,
		[]string{"32 threads (0-31) wait at bar.sync", "32 threads (32-63) have exited"}},
	{"lanes of a warp at two barriers", "", "setp.lt.u32 %a0, %t, 10; @%a0 bra low; bar.sync 0; ret; low: bar.sync 0;", gpu.ErrBarrier, -1,
		[]string{"22 threads (10-31)", "10 threads (0-9)", "of warp 0 wait at barrier 0"}},
	{"barrier in a branch", "", "setp.ge.u32 %a0, %t, 40; @%a0 bra past; bar.sync 0; past: bar.sync 1;", gpu.ErrBarrier, -1,
		[]string{"40 threads (0-39)", "24 threads (40-63)"}},
	{"too many at a barrier", "", "bar.sync 0, 32; setp.lt.u32 %a0, %t, 16; @%a0 bra past; bar.sync 1, 32; past:", gpu.ErrBarrier, -1, nil},
	{"barrier number", "", "mov.u32 %r2, 16; bar.sync %r2;", gpu.ErrBarrier, 0, []string{"expected 0 to 15"}},
	{"thread count of a barrier", "", "mov.u32 %r2, 33; bar.sync 1, %r2;", gpu.ErrBarrier, 0, []string{"multiple of 32"}},
	{"lane not in its mask", "", "shfl.sync.down.b32 %r2, %t, 1, 31, 0x0fffffff;", gpu.ErrMask, 28, []string{"lane 28", "0x0fffffff"}},
	{"mask that names another branch", "", "setp.lt.u32 %a0, %t, 16; @%a0 bra low; bar.warp.sync 0xffffffff; ret; low: shfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff;",
		gpu.ErrMask, -1, []string{"shfl", "bar.warp.sync"}},
	{"shuffle from an exited lane", "", "setp.eq.u32 %a0, %t, 3; @%a0 exit; shfl.sync.idx.b32 %r2, %t, 3, 31, 0xffffffff; add.u32 %r3, %r2, 1; st.global.u32 [%p1], %r3;",
		gpu.ErrMask, 0, []string{"lane 0 reads the value of lane 3, which has exited, and st.global.u32 at line 21"}},
	{"barrier without the even threads", "", "and.b32 %r2, %t, 1; setp.eq.u32 %a0, %r2, 0; @%a0 exit; bar.sync 0;",
		gpu.ErrBarrier, -1, []string{"32 threads wait at it, and 32 threads (0, 2, 4, 6, ...) have exited"}},
	{"trap", "", "setp.eq.u32 %a0, %t, 9; @%a0 trap;", gpu.ErrTrap, 9, []string{"trap"}},
}

func TestFaults(t *testing.T) {
	for _, c := range faultTests {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, c.declarations, c.body, 1, 64)
			err := j.device.Launch(j.launch)
			var f *gpu.Fault
			if !errors.As(err, &f) || f.Kind != c.kind || !errors.Is(err, c.kind) {
				t.Fatalf("%v, expected a fault of kind %q", err, c.kind)
			}
			if f.Entry != "op" || f.File != "test.ptx" || f.Line < 21 || f.Block == nil || *f.Block != (gpu.Dim{}) {
				t.Errorf("fault %+v, expected entry, file, line and block", f)
			}
			if c.thread >= 0 && (f.Thread == nil || *f.Thread != (gpu.Dim{X: c.thread})) {
				t.Errorf("thread %v, expected %d: %v", f.Thread, c.thread, err)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v, expected it to say %q", err, word)
				}
			}
		})
	}
}

// TestBeforeTheFirstBuffer reads before the first buffer of a device, by both kinds of
// address, and before one whose neighbour was freed.
func TestBeforeTheFirstBuffer(t *testing.T) {
	for _, load := range []string{"ld.global.u32", "ld.u32"} {
		j := newJob(t, "", load+" %r2, [%p0+-4];", 1, 64)
		says := func(want string) {
			t.Helper()
			if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, expected %q", load, err, want)
			}
		}
		says("is 4 bytes before buffer input")
		j.launch.Args[0] = j.p1
		if err := j.p0.Free(); err != nil {
			t.Fatal(err)
		}
		says("is 4 bytes before buffer output")
	}
}

// TestFaultInHeader: a fault in code of another file is named with the line of the call,
// a fault in a function of the same file by its own line only.
func TestFaultInHeader(t *testing.T) {
	for loc, want := range map[string]string{
		".loc 1 33 2, function_name f, inlined_at 2 7 1": "half.hpp:33, called at own.cu:7",
		".loc 2 8 1, function_name f, inlined_at 2 9 1":  "own.cu:8",
		".loc 2 8 1": "own.cu:8",
		".loc 2 7 5\n.loc 1 40 3, function_name f, inlined_at 2 7 5\n.loc 1 33 2, function_name g, inlined_at 1 40 3":                                       "half.hpp:33, called at own.cu:7",
		".loc 2 6 5, function_name e, inlined_at 2 20 5\n.loc 1 40 3, function_name f, inlined_at 2 6 5\n.loc 1 33 2, function_name g, inlined_at 1 40 3":   "half.hpp:33, called at own.cu:6",
		".loc 1 40 3, function_name f, inlined_at 2 6 5\n.loc 1 40 3, function_name f, inlined_at 2 7 5\n.loc 1 33 2, function_name g, inlined_at 1 40 3":   "half.hpp:33, called at own.cu:7",
		".loc 1 40 3, function_name f, inlined_at 1 41 3\n.loc 1 41 3, function_name f, inlined_at 1 40 3\n.loc 2 33 2, function_name g, inlined_at 1 40 3": "own.cu:33, called at half.hpp:40",
	} {
		text := kernel("", "\n"+loc+"\nld.global.u32 %r2, [%p0+2];") + ".file 1 \"/usr/include/half.hpp\"\n.file 2 \"own.cu\"\n"
		d, e := loadEntry(t, text, "op")
		j := &job{T: t, device: d}
		x := j.alloc("x", make([]uint32, 64))
		err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{x, x, uint32(64)}})
		var f *gpu.Fault
		if !errors.As(err, &f) || f.Source != want || !strings.Contains(err.Error(), "at "+want+" (test.ptx:") {
			t.Errorf("%s: %v, expected %s", loc, err, want)
		}
	}
}

// noFaultTests are kernels similar to the ones above, without the defect.
var noFaultTests = []struct{ name, declarations, body string }{
	{"an unset register that is only copied", "", "mov.u32 %r3, %r2; setp.eq.u32 %a0, %t, 0; selp.u32 %r4, 1, %r3, %a0; selp.u32 %r5, %r4, 7, %a0; st.global.u32 [%p1], %r5;"},
	{"a register that the lane which is read has set", "", "setp.eq.u32 %a0, %t, 0; @%a0 mov.u32 %r2, 7; setp.eq.u32 %a0, %t, 32; @%a0 mov.u32 %r2, 8; shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xffffffff; add.u32 %r3, %r3, 1; st.global.u32 [%p1], %r3;"},
	{"an unset register that is only shuffled", "", "shfl.sync.down.b32 %r3, %r2, 1, 31, 0xffffffff; st.global.u32 [%p1], 1;"},
	{"a load whose guard is false", "", "setp.ge.u32 %a0, %t, 64; @%a0 ld.global.u32 %r2, [%p0+1]; @%a0 st.global.u32 [%p1], %r2;"},
	{"a shuffle from an exited lane that a mask leaves out", "", "setp.eq.u32 %a0, %t, 3; @%a0 exit; shfl.sync.idx.b32 %r2, %t, 3, 31, 0xffffffff; setp.gt.u32 %a1, %t, 99; selp.b32 %r3, -1, 0, %a1; and.b32 %r4, %r3, %r2; st.global.u32 [%p1], %r4; not.b32 %r3, %r3; or.b32 %r4, %r2, %r3; st.global.u32 [%p1], %r4; setp.gt.u32 %a0, %r2, 5; and.pred %a2, %a0, %a1; @%a2 st.global.u32 [%p1], 1; not.pred %a1, %a1; or.pred %a2, %a1, %a0; @%a2 st.global.u32 [%p1], 2;"},
	{"a shuffle from an exited lane that is left out", "", "setp.eq.u32 %a0, %t, 3; @%a0 exit; shfl.sync.idx.b32 %r2, %t, 3, 31, 0xffffffff; add.u32 %r3, %r2, 1; setp.gt.u32 %a1, %t, 99; selp.b32 %r4, %r3, %t, %a1; @%a1 st.global.u32 [%p1], %r3; st.global.u32 [%p1], %r4;"},
	{"a barrier after a bounds check in two directions", "", "and.b32 %r2, %t, 63; setp.ge.u32 %a0, %r2, 50; @%a0 exit; bar.sync 0;"},
	{"exited lanes in a mask", "", "setp.lt.u32 %a0, %t, 8; @%a0 exit; bar.warp.sync 0xffffffff; shfl.sync.idx.b32 %r2, %t, 9, 31, 0xffffffff; st.global.u32 [%p1], %r2;"},
	{"a barrier that a warp exits before", "", "setp.ge.u32 %a0, %t, 32; @%a0 exit; bar.sync 0;"},
	{"a barrier that lanes exit before", "", "setp.ge.u32 %a0, %t, 40; @%a0 exit; bar.sync 0; barrier.sync 0;"},
	{"a barrier that threads exit after others wait", "", "setp.lt.u32 %a0, %t, 16; @%a0 bra wait; add.u32 %r2, %t, 1; exit; wait: bar.sync 0;"},
	{"both branches at the same barrier", "", "setp.lt.u32 %a0, %t, 10; @%a0 bra low; barrier.sync 0; ret; low: barrier.sync 0;"},
	{"warps in both branches at the same barrier", "", "setp.lt.u32 %a0, %t, 32; @%a0 bra low; bar.sync 0; ret; low: bar.sync 0;"},
	{"a barrier of a number of threads that lanes exit before", "", "setp.ge.u32 %a0, %t, 40; @%a0 exit; bar.sync 0, 64; bar.red.and.pred %a1, 1, %a0;"},
	{"bit fields of a new struct", ".local .align 8 .b8 m[8];", "mov.u64 %d1, m; ld.local.u32 %r2, [%d1]; and.b32 %r3, %r2, -255; or.b32 %r4, %r3, 6; st.local.u32 [%d1], %r4; ld.local.u32 %r5, [%d1]; and.b32 %r6, %r5, -2; st.local.u32 [%d1], %r6; ld.local.u32 %r7, [m+4]; and.b32 %r8, %r7, -2; st.local.u32 [m+4], %r8; st.global.u32 [%p1], %r6;"},
	{"a word never written that is copied", ".local .align 4 .b8 m[16];", "st.local.u32 [m], %t; ld.local.u32 %r2, [m]; st.local.u32 [m+8], %r2; ld.local.u32 %r3, [m+4]; st.local.u32 [m+12], %r3; ld.local.u32 %r4, [m+12]; st.local.u32 [m+4], %r4; ld.local.u32 %r5, [m+8]; st.u32 [%p1], %r5;"},
	{"padding of shared memory that is copied", ".shared .align 8 .b8 s[512];", "mov.u32 %r2, s; shl.b32 %r3, %t, 3; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %t; ld.shared.u64 %d1, [%r2]; st.shared.u64 [%r2], %d1; ld.shared.u64 %d1, [%r2]; mov.b64 {%r4, %r5}, %d1; shl.b64 %d2, %d1, 32; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r6, %d2; or.b32 %r4, %r4, %r6; prmt.b32 %r4, %r4, %r5, 0x3210; st.global.u32 [%p1], %r4;"},
	{"padding in a branch", ".shared .align 8 .b8 s[512];", "mov.u32 %r2, s; shl.b32 %r3, %t, 3; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %t; mov.u32 %r4, 0; setp.lt.u32 %a0, %t, 9; @%a0 bra over; ld.shared.u64 %d1, [%r2]; cvt.u32.u64 %r4, %d1; add.u32 %r4, %r4, 1; over: st.global.u32 [%p1], %r4;"},
	{"padding that is copied", ".local .align 8 .b8 m[8];", "st.local.u32 [m], %t; ld.local.u64 %d1, [m]; cvt.u32.u64 %r2, %d1; st.global.u32 [%p1], %r2;"},
}

func TestNoFaults(t *testing.T) {
	for _, c := range noFaultTests {
		t.Run(c.name, func(t *testing.T) { newJob(t, c.declarations, c.body, 2, 64).run() })
	}
}

// TestUnwrittenBuffer reads a buffer that was never written.
func TestUnwrittenBuffer(t *testing.T) {
	j := newJob(t, "", "ld.global.u32 %r2, [%p0]; st.global.u32 [%p1], %r2;", 1, 64)
	fresh, err := j.device.Alloc(gpu.Uint32, 64)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Label("fresh")
	j.launch.Args[0] = fresh
	part, err := fresh.View(0, 40)
	if err != nil {
		t.Fatal(err)
	}
	if err := part.Upload(make([]uint32, 40)); err != nil {
		t.Fatal(err)
	}
	err = j.device.Launch(j.launch)
	if !errors.Is(err, gpu.ErrUninitialized) || !strings.Contains(err.Error(), "byte 160 of buffer fresh") {
		t.Errorf("%v, expected byte 160 of buffer fresh to be unwritten", err)
	}
	copied := j.alloc("copied", make([]uint32, 64))
	if err := j.device.Copy(copied, fresh); err != nil {
		t.Fatal(err)
	}
	j.launch.Args[0] = copied
	if err := j.device.Launch(j.launch); err != nil {
		t.Errorf("%v, expected what was written once to stay so", err)
	}
}

// TestFreedWhileRunning frees a buffer under a running launch.
func TestFreedWhileRunning(t *testing.T) {
	for _, load := range []string{"ld.volatile.global.u32", "ld.global.u32"} {
		j := newJob(t, "", "mov.u32 %r9, 0; again: "+load+" %r2, [%p0]; add.u32 %r9, %r9, 1; setp.ne.u32 %a9, %r9, 0; @%a9 bra again;", 2, 64)
		j.device.LimitSteps(1 << 29)
		done := make(chan error, 1)
		go func() { done <- j.device.Launch(j.launch) }()
		j.begun()
		if err := j.p0.Free(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, gpu.ErrFreed) || !strings.Contains(err.Error(), "buffer input") {
			t.Errorf("%s: %v, expected a use of buffer input after it was freed", load, err)
		}
	}
}

// TestStepLimit ends an endless loop.
func TestStepLimit(t *testing.T) {
	j := newJob(t, "", `setp.ge.u32 %a0, %t, 96; @%a0 exit; setp.ge.u32 %a0, %t, 33;
	@%a0 bra again;
	bar.sync 0;
again:
	bra again;`, 1, 128)
	j.device.LimitSteps(100_000)
	err := j.device.Launch(j.launch)
	const where = "warp 0 waits at barrier 0, line 23; warp 1 at line 25 and waits at barrier 0, line 23; warp 2 at line 25; warp 3 has exited"
	if !errors.Is(err, gpu.ErrStepLimit) || !strings.Contains(err.Error(), where) {
		t.Errorf("%v, expected %q", err, where)
	}
}

// TestEndlessLaunchReportsItsPlace: if a limit or an interrupt ends a launch, the error
// names the lock that each warp polls.
func TestEndlessLaunchReportsItsPlace(t *testing.T) {
	const where = "warp 0-1 at line 22, polls element 2 (byte 8) of buffer output by atom.global.cas.b32"
	const polls = "mov.u32 %r9, 0; again: \natom.global.cas.b32 %r2, [%q1+8], 77, 1; COUNT setp.ne.u32 %a0, %r2, 77; @%a0 bra again;"
	hangs := newJob(t, "", strings.Replace(polls, "COUNT", "", 1), 1, 64)
	if err := hangs.device.Launch(hangs.launch); !errors.Is(err, gpu.ErrHang) || !strings.Contains(err.Error(), where) {
		t.Errorf("%v, expected %q", err, where)
	}
	j := newJob(t, "", strings.Replace(polls, "COUNT", "add.u32 %r9, %r9, 1; setp.eq.u32 %a0, %r9, 0; @%a0 exit;", 1), 1, 64)
	j.device.LimitSteps(100_000)
	if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrStepLimit) || !strings.Contains(err.Error(), where) {
		t.Errorf("%v, expected %q", err, where)
	}
	j.device.LimitSteps(0)
	const tries = 20 // on a busy machine the interrupt may come before the first turn
	var err error
	for try := 1; try <= tries && (err == nil || !strings.Contains(err.Error(), where)); try++ {
		done := make(chan error, 1)
		go func() { done <- j.device.Launch(j.launch) }()
		j.begun()
		for wait := true; wait; {
			select {
			case err = <-done:
				wait = false
			case <-time.After(time.Duration(20*try) * time.Millisecond):
				j.device.Interrupt()
			}
		}
	}
	if !errors.Is(err, gpu.ErrInterrupted) || !strings.Contains(err.Error(), "the launch was running; "+where) {
		t.Errorf("%v, expected %q", err, where)
	}
}

// TestFirstFault: if every block fails, the lowest one is reported.
func TestFirstFault(t *testing.T) {
	for range 20 {
		j := newJob(t, "", "setp.lt.u32 %a0, %r0, 3; @%a0 bra past; st.global.u32 [%p1+65536], 1; past:", 40, 64)
		var f *gpu.Fault
		if err := j.device.Launch(j.launch); !errors.As(err, &f) || *f.Block != (gpu.Dim{X: 3}) {
			t.Fatalf("%v, expected the fault of block 3", err)
		}
	}
}

// TestSourceLine names the CUDA source line of a fault.
func TestSourceLine(t *testing.T) {
	text := strings.Replace(kernel("", ".loc 1 41 3\nst.global.u32 [%p1+-4], 1;"), ".visible", ".file 1 \"a/reduce.cu\"\n.visible", 1)
	d, e := loadEntry(t, text, "op")
	j := &job{T: t, device: d}
	b := j.alloc("x", make([]uint32, 1))
	err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{b, b, uint32(1)}})
	if err == nil || !strings.Contains(err.Error(), "at reduce.cu:41 (test.ptx:") {
		t.Errorf("%v, expected it to name reduce.cu:41", err)
	}
}

// TestRefusals asks for entries that must be rejected by name before anything runs.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		body string
		kind error
		says string
	}{
		{"tcgen05.wait::ld.sync.aligned;", gpu.ErrUnsupported, "tcgen05.wait::ld.sync.aligned at test.ptx:21"},
		{"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d0, {%f1, %f2, %f3, %f3}];", gpu.ErrUnsupported, "tex"},
		{"add.u8 %r2, %r3, %r4;", gpu.ErrMalformed, "add has no modifier .u8"},
		{"add.foo.u32 %r2, %t, %t;", gpu.ErrMalformed, "add has no modifier .foo"},
		{"add.rn.u32 %r2, %t, %t;", gpu.ErrUnsupported, "add.rn.u32"},
		{"shfl.down.b32 %r2, %t, 1, 31;", gpu.ErrUnsupported, ".sync"},
		{"add.u32 %r2, %t;", gpu.ErrMalformed, "2 operands, expected 3"},
		{"add.u32 %r2, %t, %d0;", gpu.ErrMalformed, "%d0"},
		{"add.f32 %f1, %f2, 1;", gpu.ErrMalformed, "operand 3"},
		{".reg .u32 %u; mov.u32 %u, 1; add.f32 %f1, %f2, %u;", gpu.ErrMalformed, "%u"},
		{"ld.global.u32 %a0, [%p0];", gpu.ErrMalformed, "%a0"},
		{"setp.foo.u32 %a0, %t, %t;", gpu.ErrMalformed, ".foo"},
		{"mov.u32 %r2, %pm3;", gpu.ErrUnsupported, "%pm3"},
		{"call printf, ();", gpu.ErrUnsupported, "printf"},
	} {
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		text := kernel("", c.body)
		if strings.Contains(c.body, "printf") {
			text = strings.Replace(text, ".visible", ".extern .func printf ();\n.visible", 1)
		}
		m, err := d.Load("test.ptx", text)
		if err == nil {
			_, err = m.Entry("op")
		}
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected %q that says %q", c.body, err, c.kind, c.says)
		}
	}
}

// TestProfiles opens each profile, and one that does not exist.
func TestProfiles(t *testing.T) {
	for _, name := range Profiles() {
		d, err := Open(name)
		if err != nil || !d.Info().Emulated || d.Info().SMs == 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	_, err := Open("gtx1")
	if !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "rtx4060") {
		t.Errorf("%v, expected the names that there are", err)
	}
}

// TestOverflowOfIndex: an address outside of its buffer names the arithmetic of 32 bits that
// overflowed on the way to it, and none that has cancelled out or that is a hash.
func TestOverflowOfIndex(t *testing.T) {
	const end = "add.u64 %d2, %q0, %d1; ld.global.u32 %r9, [%d2];"
	for body, says := range map[string]string{
		"mov.u32 %r2, 60000; mad.lo.s32 %r3, %r2, %r2, %t; mul.wide.s32 %d1, %r3, 4;":             "60000 * 60000 + 0 = 3600000000",
		"mov.u32 %r2, 65536; mul.lo.u32 %r3, %r2, %n; mul.wide.u32 %d1, %r3, 4;":                  "",
		"sub.u32 %r2, %t, 1; mul.wide.u32 %d1, %r2, 4;":                                           "0 - 1 = -1",
		"sub.u32 %r2, %t, 1; add.u32 %r3, %r2, 4096; mul.wide.u32 %d1, %r3, 4;":                   "",
		"sub.u32 %r2, %t, 1; xor.b32 %r3, %r2, 4096; mul.wide.u32 %d1, %r3, 4;":                   "",
		"ld.global.u32 %r2, [%q0+252]; mul.lo.u32 %r3, %r2, 0x5000000; mul.wide.s32 %d1, %r3, 4;": "63 * 83886080 = 5284823040",
	} {
		j := newJob(t, "", body+end, 1, 64)
		err := j.device.Launch(j.launch)
		if !errors.Is(err, gpu.ErrOutOfBounds) || strings.Contains(err.Error(), "overflowed") != (says != "") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected it to say %q", body, err, says)
		}
	}
}

// TestWrittenByLaunches writes a buffer part by part: reading it is a fault until all of
// it is written.
func TestWrittenByLaunches(t *testing.T) {
	j := newJob(t, "", "setp.ge.u32 %a0, %i, %n; @%a0 exit; st.global.u32 [%p1], %i;", 2, 64)
	const n = 77 // no multiple of a word of bits
	fresh, err := j.device.Alloc(gpu.Uint32, n)
	if err != nil {
		t.Fatal(err)
	}
	c := fresh.(*buffer).memory.Contents.Load()
	for _, written := range []uint32{0, 30, 76, 77} {
		j.launch.Args = []any{j.p0, fresh, written}
		if err := j.device.Launch(j.launch); err != nil {
			t.Fatal(err)
		}
		if c.Whole.Load() != (written == n) {
			t.Errorf("%d of %d elements written: whole is %v", written, n, c.Whole.Load())
		}
	}
	for i := range len(c.Data) {
		if !c.Written.Has(i, 1) {
			t.Fatalf("byte %d is not written", i)
		}
	}
}

// TestMissingBarrierIsTheCause: a launch that does not ask for races reports a tile that is
// read before another thread has written it as a missing barrier, and a tile that is written
// after a barrier, or not at all, as an uninitialised read.
func TestMissingBarrierIsTheCause(t *testing.T) {
	for stores, says := range map[string]string{
		"st.shared.u32 [%r4], %t;":             "no barrier stands between: put __syncthreads() there",
		"bar.sync 0; st.shared.u32 [%r4], %t;": "write it first, or set it to 0",
		"":                                     "write it first, or set it to 0",
	} {
		d, e := loadEntry(t, kernel(".shared .align 4 .b8 tile[256];", `mov.u32 %r2, tile;
	xor.b32 %r3, %t, 63;
	mad.lo.u32 %r3, %r3, 4, %r2;
	mad.lo.u32 %r4, %t, 4, %r2;
	ld.shared.u32 %r5, [%r3];
	`+stores), "op")
		b, err := d.Alloc(gpu.Uint32, 64)
		if err != nil {
			t.Fatal(err)
		}
		err = d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Checks: gpu.CheckAll &^ gpu.CheckRaces, Args: []any{b, b, int32(1)}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, expected it to say %q", stores, err, says)
		}
	}
}

// TestCountersOfFault: what a loop counts until it leaves its buffer does not depend on
// the path of its loads.
func TestCountersOfFault(t *testing.T) {
	var want gpu.Counters
	for _, path := range []struct {
		long    bool
		vectors simd.Vectors
	}{{true, simd.NoVectors}, {true, simd.Best}, {false, simd.NoVectors}, {false, simd.Best}} {
		j := newJob(t, "", "again: ld.global.u32 %r2, [%p0]; add.u64 %p0, %p0, 128; bra again;", 64, 64)
		j.device.LimitWorkers(1)
		j.device.LimitVectors(path.vectors)
		j.device.engine.LimitPatterns(path.long)
		if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrOutOfBounds) {
			t.Fatalf("%+v: %v, expected the end of the buffer", path, err)
		}
		if want.WarpInstructions == 0 {
			want = j.counters
		}
		if j.counters != want || want.GlobalLoad.Requests < 64 {
			t.Errorf("%+v: %+v, expected %+v", path, j.counters, want)
		}
	}
}
