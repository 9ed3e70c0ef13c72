package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// index stores the address of s[%t] in %r2.
const index = "mov.u32 %r2, s; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3;"

// raceTests are kernels of 64 threads, with the words of the report; one without words
// has no race.
var raceTests = []struct {
	name, body string
	says       []string
}{
	{"read before write, other warp", "st.shared.u32 [%r2], %t; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];",
		[]string{"write-after-read", "byte 128 of shared variable s", "thread (0,0,0) read it with ld.shared.u32 at line", "thread (32,0,0)"}},
	{"ordered by a barrier", "st.shared.u32 [%r2], %t; bar.sync 0; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];", nil},
	{"a warp barrier orders no other warp", "st.shared.u32 [%r2], %t; bar.warp.sync 0xffffffff; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];",
		[]string{"write-after-read"}},
	{"read after write, same warp", "st.shared.u32 [%r2], %t; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4];",
		[]string{"read-after-write", "thread (1,0,0) wrote", "thread (0,0,0)"}},
	{"ordered by a warp barrier", "st.shared.u32 [%r2], %t; bar.warp.sync 0xffffffff; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4];", nil},
	{"volatile orders nothing", "st.volatile.shared.u32 [%r2], %t; xor.b32 %r4, %r2, 4; ld.volatile.shared.u32 %r5, [%r4];", []string{"read-after-write"}},
	{"a fence orders nothing", "st.shared.u32 [%r2], %t; membar.cta; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4];", []string{"read-after-write"}},
	{"write after read, same warp", "st.shared.u32 [%r2], %t; bar.sync 0; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r2], %r5;",
		[]string{"write-after-read", "thread (33,0,0) read it with ld.shared.u32", "thread (32,0,0)"}},
	{"write after its own read and another lane's", "st.shared.u32 [%r2], %t; bar.sync 0; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r4]; st.shared.u32 [%r2], %r6;",
		[]string{"write-after-read", "thread (33,0,0) read it with ld.shared.u32", "thread (32,0,0)"}},
	{"write after read, other warp", "st.shared.u32 [%r2], %t; bar.sync 0; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r2], %r5;",
		[]string{"read-after-write", "thread (32,0,0) wrote it", "thread (0,0,0)"}},
	{"write after many reads", "st.shared.u32 [%r2], %t; bar.sync 0; ld.shared.u32 %r5, [s]; setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], %t;",
		[]string{"write-after-read", "thread (32,0,0) read it", "block (0,0,0) thread (0,0,0)"}},
	{"write after the reads of another warp", "st.shared.u32 [%r2], %t; bar.sync 0; setp.ge.u32 %a0, %t, 32; setp.eq.u32 %a1, %t, 0; @!%a0 bra past; ld.shared.u32 %r5, [s]; bra end; past: @%a1 st.shared.u32 [s], %t; end:",
		[]string{"write-after-read", "thread (32,0,0) read it", "block (0,0,0) thread (0,0,0)"}},
	{"write after write", "st.shared.u32 [s+4], %t;", []string{"write-after-write", "byte 4 of shared variable s"}},
	{"write after write, other warp", "and.b32 %r4, %r2, 127; st.shared.u32 [%r4+0], %t;", []string{"write-after-write", "thread (32,0,0)"}},
	{"read before the write of a later warp", "xor.b32 %r4, %r2, 128; setp.lt.u32 %a0, %t, 32; @%a0 ld.shared.u32 %r5, [%r4]; @!%a0 st.shared.u32 [%r2], %t;",
		[]string{"write-after-read", "thread (0,0,0) read it", "thread (32,0,0)"}},
	{"bytes of one word", ".reg .b16 %h; cvt.u16.u32 %h, %t; mov.u32 %r4, s; add.u32 %r4, %r4, %t; st.shared.u8 [%r4], %h;", nil},
	{"a byte of a word", ".reg .b16 %h; cvt.u16.u32 %h, %t; mov.u32 %r4, s; add.u32 %r4, %r4, %t; st.shared.u32 [%r2], %t; bar.warp.sync 0xffffffff; st.shared.u8 [%r4+128], %h;",
		[]string{"write-after-write", "byte 128 of shared variable s", "thread (32,0,0)"}},
	{"the same value", "shr.u32 %r4, %t, 6; st.shared.u32 [s], %r4; st.shared.v2.u32 [s], {%r4, 7};", nil},
	{"the same value in half of a vector", "st.shared.v2.u32 [s], {7, %t};", []string{"write-after-write", "byte 4 of"}},
	{"another value", "shr.u32 %r4, %t, 5; st.shared.u32 [s], %r4;", []string{"write-after-write", "thread (32,0,0)"}},
	{"a shuffle and a vote order nothing", "st.shared.u32 [%r2], %t; shfl.sync.idx.b32 %r6, %t, 0, 31, 0xffffffff; vote.sync.ballot.b32 %r7, 1, 0xffffffff; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4];",
		[]string{"read-after-write"}},
	{"vectors overlap", "add.u32 %r4, %t, %t; mov.u32 %r5, s; shl.b32 %r6, %t, 3; add.u32 %r5, %r5, %r6; st.shared.v2.u32 [%r5], {%t, %t}; bar.warp.sync 0xffffffff; st.shared.u32 [%r2], %t;",
		[]string{"write-after-write", "byte 128", "thread (16,0,0) wrote it with st.shared.v2.u32"}},
	{"an atomic after a store", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], 0; atom.shared.add.u32 %r5, [s], 1;",
		[]string{"write-after-write", "byte 0 of shared variable s", "thread (0,0,0) wrote it with st.shared.u32", "atom.shared.add.u32", "thread (32,0,0)"}},
	{"a store of a later warp after an atomic", "shr.u32 %r4, %t, 5; setp.ne.u32 %a0, %r4, 0; @%a0 st.shared.u32 [s+4], 0; @!%a0 red.shared.add.u32 [s+4], 1;",
		[]string{"write-after-write", "byte 4 of shared variable s", "thread (0,0,0) wrote it with red.shared.add.u32", "thread (32,0,0)"}},
	{"a load after an atomic", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1; setp.eq.u32 %a0, %t, 63; @%a0 ld.shared.u32 %r5, [s];",
		[]string{"read-after-write", "wrote it with red.shared.add.u32", "thread (63,0,0)"}},
	{"an atomic after a load", "st.shared.u32 [%r2], 0; bar.sync 0; ld.shared.u32 %r5, [%r2]; setp.eq.u32 %a0, %t, 0; @%a0 atom.shared.add.u32 %r6, [s+128], 1;",
		[]string{"write-after-read", "thread (32,0,0) read it with ld.shared.u32", "thread (0,0,0)"}},
	{"an atomic of another address", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.v2.u32 [s], {0, 0}; bar.sync 0; red.shared.add.u32 [s], 1; @%a0 ld.shared.u32 %r5, [s+4];", nil},
	{"an atomic and its own thread", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], 0; @%a0 red.shared.add.u32 [s], 1; @%a0 ld.shared.u32 %r5, [s];", nil},
	{"a volatile load after an atomic", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1; ld.volatile.shared.u32 %r5, [s]; red.shared.add.u32 [s], 1;", nil},
	{"a load after an atomic and a warp barrier", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s], 0; setp.ge.u32 %a1, %t, 32; @%a1 bra end; bar.warp.sync 0xffffffff; red.shared.add.u32 [s], 1; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [s]; end:", nil},
	{"a wide atomic", "setp.eq.u32 %a0, %t, 0; @%a0 st.shared.v2.u32 [s], {0, 0}; bar.sync 0; mov.u64 %d1, 1; red.shared.add.u64 [s], %d1; @%a0 ld.shared.u32 %r5, [s+4];",
		[]string{"read-after-write", "byte 4 of shared variable s", "red.shared.add.u64"}},
	{"atomics do not race", "st.shared.u32 [%r2], %t; bar.sync 0; atom.shared.add.u32 %r5, [s], 1;", nil},
	{"half of a warp", "st.shared.u32 [%r2], %t; setp.ge.u32 %a0, %t, 16; @%a0 bra end; bar.warp.sync 0x0000ffff; xor.b32 %r4, %r2, 4; ld.shared.u32 %r5, [%r4]; end:", nil},
	{"half of a warp, the other half", "st.shared.u32 [%r2], %t; setp.ge.u32 %a0, %t, 16; @%a0 bra end; bar.warp.sync 0x0000ffff; xor.b32 %r4, %r2, 64; ld.shared.u32 %r5, [%r4]; end:",
		[]string{"read-after-write", "thread (16,0,0) wrote", "thread (0,0,0)"}},
	{"pairs, by way of one of them", `st.shared.u32 [%r2], %t; setp.ge.u32 %a0, %t, 32; @%a0 bra end; and.b32 %r4, %t, 30; mov.u32 %r5, 3; shl.b32 %r5, %r5, %r4;
		bar.warp.sync %r5; setp.ge.u32 %a1, %t, 4; @%a1 bra end; and.b32 %r6, %t, 1; mov.u32 %r7, 5; shl.b32 %r7, %r7, %r6; bar.warp.sync %r7;
		xor.b32 %r8, %r2, 12; ld.shared.u32 %r9, [%r8]; end:`, nil},
	{"a named barrier of both warps", "st.shared.u32 [%r2], %t; bar.sync 3, 64; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];", nil},
	{"named barriers of each warp", "st.shared.u32 [%r2], %t; shr.u32 %r6, %t, 5; add.u32 %r6, %r6, 1; bar.sync %r6, 32; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];",
		[]string{"write-after-read"}},
	{"an arrival orders what was before it", `setp.ge.u32 %a0, %t, 32; @%a0 bra take; st.shared.u32 [%r2], %t; bar.arrive 1, 64; bra end;
		take: bar.sync 1, 64; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4]; end:`, nil},
	{"an arrival orders nothing after it", `setp.ge.u32 %a0, %t, 32; @%a0 bra take; bar.arrive 1, 64; st.shared.u32 [%r2], %t; bra end;
		take: bar.sync 1, 64; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4]; end:`, []string{"read-after-write"}},
	{"who arrives has not waited", `setp.ge.u32 %a0, %t, 32; @%a0 bra take; bar.arrive 1, 64; xor.b32 %r4, %r2, 128; st.shared.u32 [%r4], %t; bra end;
		take: st.shared.u32 [%r2], %t; bar.sync 1, 64; end:`, []string{"write-after-write"}},
	{"a barrier that exited threads miss", `setp.ge.u32 %a0, %t, 48; st.shared.u32 [%r2], %t; @%a0 exit; bar.sync 0; xor.b32 %r4, %r2, 64; ld.shared.u32 %r5, [%r4];`, nil},
}

func TestRaces(t *testing.T) {
	for _, c := range raceTests {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, ".shared .align 16 .b8 s[1024];", index+c.body, 3, 64)
			if err := j.device.Launch(j.launch); err != nil && !errors.Is(err, gpu.ErrUninitialized) {
				t.Fatalf("%v without a search for races", err)
			}
			j.launch.Checks = gpu.CheckAll
			err := j.device.Launch(j.launch)
			if c.says == nil {
				if err != nil {
					t.Fatalf("%v, expected no race", err)
				}
				return
			}
			var f *gpu.Fault
			if !errors.As(err, &f) || f.Kind != gpu.ErrRace {
				t.Fatalf("%v, expected a race", err)
			}
			if f.Other == nil || f.Other.Line < 21 || f.Line < f.Other.Line || f.Block == nil || f.Thread == nil || *f.Thread == f.Other.Thread {
				t.Errorf("%+v, other %+v: expected two accesses of two threads", f, f.Other)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v, expected it to say %q", err, word)
				}
			}
		})
	}
}

// TestReadBeforeWrite reads shared memory that no thread ever writes: with the search
// for races it is still an uninitialized read.
func TestReadBeforeWrite(t *testing.T) {
	j := newJob(t, ".shared .align 4 .b8 s[1024];", index+"ld.shared.u32 %r4, [%r2]; st.global.u32 [%p1], %r4;", 1, 64)
	j.launch.Checks = gpu.CheckAll
	if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrUninitialized) {
		t.Errorf("%v, expected an uninitialized read", err)
	}
	j.launch.Checks = gpu.CheckRaces
	if err := j.device.Launch(j.launch); err != nil {
		t.Errorf("%v, expected no check of what is written", err)
	}
	j.launch.Checks = gpu.CheckNone
	if err := j.device.Launch(j.launch); err != nil {
		t.Errorf("%v, expected no check of what is written", err)
	}
}

// TestRemedyOfOneLine: the remedy for one instruction whose threads store different values in
// one place names no barrier; the remedy for a line that reads and writes names its place.
func TestRemedyOfOneLine(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{".loc 1 7 1\nst.shared.u32 [s], %t;", "and both threads run this instruction: one of the values is lost; let each thread write its own element, or put __syncthreads() between the iterations of a loop"},
		{"st.shared.u32 [%k], %t; bar.sync 0;\n.loc 1 7 1\nld.shared.u32 %r2, [%k+4]; st.shared.u32 [%k], %r2;", "put __syncthreads() there: after this line if it is in a loop, or between its read and its write, with the value in a variable"},
		{"st.shared.u32 [%k], %t; bar.sync 0;\n.loc 1 7 1\nld.shared.u32 %r2, [%k+4];\n.loc 1 8 1\nst.shared.u32 [%k], %r2;", "put __syncthreads() there, block"},
		{"st.shared.u32 [%k], %t; bar.sync 0;\n.loc 1 8 1\nld.shared.u32 %r2, [%k+4];\n.loc 1 7 1\nst.shared.u32 [%k], %r2;", "put __syncthreads() there: if both lines are in a loop, as its last statement, block"},
	} {
		body := strings.ReplaceAll(c.body, "%k", "%r9")
		j := newJob(t, ".shared .align 4 .b8 s[272];", "mov.u32 %r9, s; mad.lo.u32 %r9, %t, 4, %r9; setp.eq.u32 %a0, %t, 0; @%a0 st.shared.u32 [s+256], 0;\n"+body, 1, 64)
		j.launch.Checks = gpu.CheckAll
		if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrRace) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.body, err, c.want)
		}
	}
}
