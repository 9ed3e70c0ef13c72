package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// slot is %r2, the address of s[%t]; neighbour is %r4, that of s[min(%t, 62)]
// and two bytes, which is not aligned.
const (
	slot      = "mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3;"
	neighbour = slot + "min.u32 %r3, %t, 62; shl.b32 %r3, %r3, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3; add.u32 %r4, %r4, 2;"
)

// unaligned is the word two bytes after x[i], where x[i] = i.
func unaligned(i int) uint32 { return uint32(i)>>16 | uint32(i+1)<<16 }

// switchTests are kernels of one block of 64 threads with one defect each: the check
// that finds it, and the behaviour without that check.
var switchTests = []struct {
	name, declarations, body string
	check                    gpu.Checks
	kind                     error
	dropped                  uint64
	want                     func(i int) uint32 // p1 of thread i
}{
	{"load past the end", "", "ld.global.u32 %r2, [%p0+128]; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 32, func(i int) uint32 {
			if i >= 32 {
				return 0
			}
			return uint32(i + 32)
		}},
	{"pattern that goes past the end", "", "mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u64 %d1, %p0; again: ld.global.u32 %r2, [%d1]; add.u32 %r3, %r3, %r2; add.u64 %d1, %d1, 32; add.u32 %r4, %r4, 1; setp.lt.u32 %a0, %r4, 9; @%a0 bra again; st.global.u32 [%p1], %r3;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 4*64 + 4*8, func(i int) (sum uint32) {
			for at := i; at < min(64, i+9*8); at += 8 {
				sum += uint32(at)
			}
			return sum
		}},
	{"store past the end", "", "add.u32 %r2, %t, 1; st.global.u32 [%p1+4], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 1, func(i int) uint32 { return uint32(i) }},
	{"store before the start", "", "st.global.u32 [%p1+-8], 7;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 2, func(i int) uint32 {
			if i >= 62 {
				return 0
			}
			return 7
		}},
	{"vector across the end", "", "ld.global.u32 %r4, [%p0]; add.u64 %d1, %p0, %d0; ld.global.v2.u32 {%r2, %r3}, [%d1]; st.global.u32 [%p1], %r3;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 32, func(i int) uint32 {
			if i >= 32 {
				return 0
			}
			return uint32(2*i + 1)
		}},
	{"null", "", "mov.u64 %d1, 0; ld.global.u32 %r2, [%d1+16]; ld.u32 %r3, [%d1]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, 3; st.u32 [%d1], %r2; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 3 * 64, func(int) uint32 { return 3 }},
	{"far away", "", "add.u64 %d1, %p0, 0x123456789000000; ld.global.s8 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 64, func(int) uint32 { return 1 }},
	{"atomic past the end", "", "atom.global.add.u32 %r2, [%p1+128], 5; red.global.add.u32 [%p1+128], 6; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 64, func(i int) uint32 { return 0 }},
	{"shared address in global", ".shared .align 4 .b8 s[128];", "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; mov.u32 %r2, 8; ld.global.u32 %r2, [%d1]; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrSpace, 64, func(int) uint32 { return 0 }},
	{"shared past the end", ".shared .align 4 .b8 s[128];", slot + "st.shared.u32 [%r2], %t; ld.shared.u32 %r5, [%r2]; st.global.u32 [%p1], %r5;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 64, func(i int) uint32 {
			if i >= 32 {
				return 0
			}
			return uint32(i)
		}},
	{"the variable behind", ".shared .align 4 .b8 s[128]; .shared .align 4 .b8 behind[128];",
		"mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %t; bar.sync 0; shl.b32 %r3, %t, 2; and.b32 %r3, %r3, 127; mov.u32 %r4, behind; add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4]; st.global.u32 [%p1], %r5;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 0, func(i int) uint32 { return uint32(i%32 + 32) }},
	{"no shared memory", "", "mov.u32 %r2, 0; st.shared.u32 [%r2], 1; ld.shared.u32 %r3, [%r2]; st.global.u32 [%p1], %r3;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 128, func(int) uint32 { return 0 }},
	{"local past the end", ".local .align 4 .b8 m[16];", "mov.u64 %d1, m; add.u64 %d1, %d1, 16; st.local.u32 [%d1], 9; ld.local.u32 %r2, [%d1]; st.global.u32 [%p1], %r2;",
		gpu.CheckBounds, gpu.ErrOutOfBounds, 128, func(int) uint32 { return 0 }},

	{"load not aligned", "", "mul.wide.u32 %d1, %t, 4; setp.eq.u32 %a0, %t, 63; @%a0 sub.u64 %d1, %d1, 4; add.u64 %d1, %d1, %q0; ld.global.u32 %r2, [%d1+2]; st.global.u32 [%p1], %r2;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 { return unaligned(min(i, 62)) }},
	{"vector not aligned", "", "mul.wide.u32 %d1, %t, 4; setp.ge.u32 %a0, %t, 60; @%a0 mov.u64 %d1, 240; add.u64 %d1, %d1, %q0; ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1]; st.global.u32 [%p1], %r5;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 { return uint32(min(i, 60) + 3) }},
	{"wide and narrow words not aligned", "", "min.u32 %r2, %t, 60; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %d1, %q0; ld.global.u64 %d2, [%d1+6]; ld.global.s16 %r3, [%d1+3]; shr.u64 %d2, %d2, 16; cvt.u32.u64 %r4, %d2; add.u32 %r4, %r4, %r3; st.global.u32 [%p1], %r4;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 {
			i = min(i, 60)
			return uint32(i+2) + uint32(i+1)<<8
		}},
	{"store not aligned", ".shared .align 4 .b8 s[256];",
		neighbour + "st.shared.u32 [%r2], 0; bar.sync 0; and.b32 %r5, %t, 1; setp.eq.u32 %a0, %r5, 0; mul.lo.u32 %r6, %t, 0x10001; @%a0 st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r7, [%r2]; st.global.u32 [%p1], %r7;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 {
			if i%2 == 0 {
				return uint32(i) << 16
			}
			return uint32(i - 1)
		}},
	{"volatile word not aligned", ".shared .align 4 .b8 s[256];",
		neighbour + "st.volatile.shared.u32 [%r2], %t; bar.sync 0; ld.volatile.shared.u32 %r5, [%r4]; st.global.u32 [%p1], %r5;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 { return unaligned(min(i, 62)) }},
	{"atomic not aligned", ".shared .align 4 .b8 s[256];",
		neighbour + "st.shared.u32 [%r2], %t; bar.sync 0; setp.eq.u32 %a0, %t, 5; @%a0 atom.shared.add.u32 %r5, [%r4], 0x20001; @%a0 st.global.u32 [%p1], %r5; bar.sync 0; setp.eq.u32 %a0, %t, 6; @%a0 ld.shared.u32 %r5, [%r4+-4]; @%a0 st.global.u32 [%p1], %r5;",
		gpu.CheckAlignment, gpu.ErrMisaligned, 0, func(i int) uint32 {
			return map[int]uint32{5: unaligned(5), 6: unaligned(5) + 0x20001}[i]
		}},

	{"lanes of a warp at two barriers", "", "setp.lt.u32 %a0, %t, 10; @%a0 bra low; bar.sync 0; st.global.u32 [%p1], 1; ret; low: bar.sync 0; st.global.u32 [%p1], 2;",
		gpu.CheckBarriers, gpu.ErrBarrier, 0, func(i int) uint32 {
			if i < 10 {
				return 2
			}
			return 1
		}},
	{"barrier of 33 threads", "", "mov.u32 %r2, 33; bar.sync 1, %r2; st.global.u32 [%p1], 1;",
		gpu.CheckBarriers, gpu.ErrBarrier, 0, func(int) uint32 { return 1 }},
	{"barrier of two counts", "", "setp.lt.u32 %a0, %t, 32; selp.u32 %r2, 64, 32, %a0; bar.sync 1, %r2; st.global.u32 [%p1], 1;",
		gpu.CheckBarriers, gpu.ErrBarrier, 0, func(int) uint32 { return 1 }},
	{"too many at a barrier", "", "setp.lt.u32 %a0, %t, 16; @%a0 bra low; bar.sync 1, 32; low: bar.sync 1, 32; st.global.u32 [%p1], 1;",
		gpu.CheckBarriers, gpu.ErrBarrier, 0, func(int) uint32 { return 1 }},

	{"lane not in its mask", "", "shfl.sync.down.b32 %r2, %t, 1, 31, 0x0fffffff; setp.lt.u32 %a0, %t, 28; @%a0 st.global.u32 [%p1], %r2;",
		gpu.CheckMasks, gpu.ErrMask, 0, func(i int) uint32 {
			if i < 28 {
				return uint32(i + 1)
			}
			return 0
		}},
}

// TestSwitches runs each defect with only the check that finds it, which is a fault, and
// with all other checks, where the launch continues as documented.
func TestSwitches(t *testing.T) {
	for _, c := range switchTests {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, c.declarations, c.body, 1, 64)
			for _, on := range []gpu.Checks{0, c.check, gpu.CheckAll} {
				j.launch.Checks = on
				var f *gpu.Fault
				if err := j.device.Launch(j.launch); !errors.As(err, &f) || f.Kind != c.kind || f.Line < 21 {
					t.Fatalf("checks %b: %v, expected a fault of kind %q", on, err, c.kind)
				}
			}
			for _, off := range []gpu.Checks{gpu.CheckNone, gpu.CheckDefault &^ c.check} {
				if err := j.p1.Upload(make([]uint32, 64)); err != nil {
					t.Fatal(err)
				}
				j.launch.Checks = off
				j.expect(c.want)
				if j.counters.Dropped != c.dropped {
					t.Errorf("checks %b: %d accesses dropped, expected %d", off, j.counters.Dropped, c.dropped)
				}
			}
		})
	}
}

// TestFreedUnchecked uses a freed buffer in a launch without that check.
func TestFreedUnchecked(t *testing.T) {
	j := newJob(t, "", "st.global.u32 [%p0], %t; ld.global.u32 %r2, [%p0]; add.u32 %r2, %r2, 1; st.global.u32 [%p1], %r2;", 1, 64)
	j.launch.Args[0] = j.p0.(*buffer).address()
	if err := j.p0.Free(); err != nil {
		t.Fatal(err)
	}
	for _, on := range []gpu.Checks{0, gpu.CheckFreed, gpu.CheckAll &^ gpu.CheckBounds} {
		j.launch.Checks = on
		if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrFreed) {
			t.Errorf("checks %b: %v, expected a use after free", on, err)
		}
	}
	for _, off := range []gpu.Checks{gpu.CheckNone, gpu.CheckAll &^ gpu.CheckFreed} {
		j.launch.Checks = off
		j.expect(func(int) uint32 { return 1 })
		if j.counters.Dropped != 2*64 {
			t.Errorf("%d accesses dropped, expected %d", j.counters.Dropped, 2*64)
		}
	}
}

// TestUnalignedIsChecked looks for the other defects in unaligned accesses.
func TestUnalignedIsChecked(t *testing.T) {
	const shared = ".shared .align 4 .b8 s[512];"
	for _, c := range []struct {
		name, body string
		checks     gpu.Checks
		kind       error // nil if there is no defect
	}{
		{"half written", neighbour + "st.shared.u32 [%r2], %t; ld.shared.u32 %r5, [%r2+254];", gpu.CheckDefault, gpu.ErrUninitialized},
		{"written", neighbour + "st.shared.u32 [%r4], %t; ld.shared.u32 %r5, [%r4];", gpu.CheckDefault, nil},
		{"past the end", neighbour + "st.shared.u32 [%r4+256], %t; ld.shared.u32 %r5, [%r4+262];", gpu.CheckFaults, gpu.ErrOutOfBounds},
		{"stores overlap by a byte", slot + "shl.b32 %r3, %t, 1; add.u32 %r3, %r3, %r2; sub.u32 %r3, %r3, %t; sub.u32 %r3, %r3, %t; sub.u32 %r3, %r3, %t; setp.lt.u32 %a0, %t, 2; @%a0 st.shared.u32 [%r3+1], %r2;",
			gpu.CheckAll, gpu.ErrRace},
		{"stores side by side", slot + "st.shared.u32 [%r2+1], %t;", gpu.CheckAll, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, shared, c.body, 1, 64)
			j.launch.Checks = c.checks &^ gpu.CheckAlignment
			if err := j.device.Launch(j.launch); !errors.Is(err, c.kind) {
				t.Errorf("%v, expected %v", err, c.kind)
			}
			j.launch.Checks = c.checks // the shadow of the races changes its cells
			if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrMisaligned) {
				t.Errorf("%v, expected a misaligned address", err)
			}
		})
	}
}

// TestUncheckedHang: a launch that cannot end is a fault with any checks.
func TestUncheckedHang(t *testing.T) {
	for name, body := range map[string]string{
		"barrier in a branch":    "setp.ge.u32 %a0, %t, 40; @%a0 bra past; bar.sync 0; past: bar.sync 1;",
		"a warp exits before":    "setp.ge.u32 %a0, %t, 32; @%a0 exit; bar.sync 0, 64;",
		"mask of another branch": "setp.lt.u32 %a0, %t, 16; @%a0 bra low; bar.warp.sync 0xffffffff; ret; low: shfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff;",
		"barrier number":         "mov.u32 %r2, 16; bar.sync %r2;",
	} {
		j := newJob(t, "", body, 1, 64)
		j.launch.Checks = gpu.CheckNone
		if err := j.device.Launch(j.launch); err == nil || !strings.Contains(err.Error(), "bar") {
			t.Errorf("%s: %v, expected a fault at a barrier", name, err)
		}
	}
}
