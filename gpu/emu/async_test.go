package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
)

// asyncTests are kernels of 64 threads that copy their own element of p0 to s, with the
// expected fault and its words; nil is none. Every shared word is at byte 0 of s for
// thread 0, so names are known.
var asyncTests = []struct {
	name, body string
	kind       error
	says       []string
}{
	{"waited for", "cp.async.wait_all; ld.shared.u32 %r5, [%r2]; st.global.u32 [%p1], %r5;", nil, nil},
	{"its group waited for", "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r5, [%r2];", nil, nil},
	{"read at once", "ld.shared.u32 %r5, [%r2];", gpu.ErrUninitialized,
		[]string{"byte 0 of shared variable s, which cp.async at line", "has not waited"}},
	{"a group is not the last", "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r5, [%r2];", gpu.ErrUninitialized, []string{"cp.async"}},
	{"wait_group leaves what is in no group", "cp.async.wait_group 0; ld.shared.u32 %r5, [%r2];", gpu.ErrUninitialized, []string{"cp.async"}},
	{"a barrier is no wait", "bar.sync 0; ld.shared.u32 %r5, [%r2];", gpu.ErrUninitialized, []string{"cp.async"}},
	{"only the own copies are there", "cp.async.wait_all; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];", gpu.ErrRace,
		[]string{"write-after-read", "cp.async.ca.shared.global", "thread (32,0,0)"}},
	{"the copies of others behind a barrier", "cp.async.wait_all; bar.sync 0; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];", nil, nil},
	{"the next copy before others have read", `cp.async.wait_all; bar.sync 0; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];
		cp.async.ca.shared.global [%r2], [%p0], 4;`, gpu.ErrRace, []string{"read-after-write", "cp.async.ca.shared.global"}},
	{"past the end of a buffer", "add.u64 %d0, %p0, 256; cp.async.ca.shared.global [%r2], [%d0], 4;", gpu.ErrOutOfBounds, []string{"cp.async.ca.shared.global", "input"}},
	{"past the end, of which nothing is read", "add.u64 %d0, %p0, 256; cp.async.ca.shared.global [%r2], [%d0], 4, 0; cp.async.wait_all; ld.shared.u32 %r5, [%r2]; st.global.u32 [%p1], %r5;", nil, nil},
	{"past the end of shared memory", "add.u32 %r2, %r2, 512; cp.async.ca.shared.global [%r2], [%p0], 4;", gpu.ErrOutOfBounds, []string{"cp.async.ca.shared.global"}},
	{"a misaligned destination", "add.u32 %r2, %r2, 2; cp.async.ca.shared.global [%r2], [%p0], 4;", gpu.ErrMisaligned, []string{"cp.async.ca.shared.global"}},
	{"more than the size", "cp.async.ca.shared.global [%r2], [%p0], 4, 5;", gpu.ErrArgument, []string{"5 bytes", "at most 4"}},

	{"an mbarrier that was not made", "mbarrier.arrive.shared.b64 %d0, [bar];", gpu.ErrUninitialized, []string{"no mbarrier at byte 0 of shared variable bar"}},
	{"an mbarrier after its end", "setp.ne.u32 %a0, %t, 0; @%a0 exit; mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 %d0, [bar];",
		gpu.ErrUninitialized, []string{"no mbarrier"}},
	{"more arrivals than it takes", "setp.ne.u32 %a0, %t, 0; @%a0 exit; mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 %d0, [bar], 3;", gpu.ErrBarrier, []string{"3 arrivals", "misses 2"}},
	{"noComplete that completes", "setp.ne.u32 %a0, %t, 0; @%a0 exit; mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.noComplete.shared.b64 %d0, [bar], 2;", gpu.ErrBarrier, []string{".noComplete"}},
	{"an mbarrier of none", "mbarrier.init.shared.b64 [bar], 0;", gpu.ErrBarrier, []string{"0 arrivals"}},
	{"an mbarrier orders", mbarrier64 + "xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4]; st.global.u32 [%p1], %r5;", nil, nil},
	{"an mbarrier without a wait orders nothing", strings.Split(mbarrier64, "again:")[0] + "cp.async.wait_all; xor.b32 %r4, %r2, 128; ld.shared.u32 %r5, [%r4];",
		gpu.ErrRace, []string{"write-after-read"}},
}

// mbarrier64 waits until the copies of all threads are there.
const mbarrier64 = `setp.ne.u32 %a0, %t, 0; @%a0 bra made; mbarrier.init.shared.b64 [bar], 64; made: bar.sync 0;
	cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
	again: mbarrier.test_wait.parity.shared.b64 %a1, [bar], 0; @!%a1 bra again;
`

func TestAsync(t *testing.T) {
	for _, c := range asyncTests {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, ".shared .align 16 .b32 s[64]; .shared .align 8 .b64 bar;",
				index+"cp.async.ca.shared.global [%r2], [%p0], 4;"+c.body, 1, 64)
			j.launch.Checks = gpu.CheckAll
			err := j.device.Launch(j.launch)
			if !errors.Is(err, c.kind) || (err == nil) != (c.kind == nil) {
				t.Fatalf("%v, expected %v", err, c.kind)
			}
			for _, words := range c.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v, expected it to say %q", err, words)
				}
			}
		})
	}
}

// TestMatrixNeedsTheWarp: a matrix instruction without all 32 lanes is a fault.
func TestMatrixNeedsTheWarp(t *testing.T) {
	for text, declared := range map[string]string{
		"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%x0,%x1,%x2,%x3}, {%r2,%r3}, {%r4}, {%x0,%x1,%x2,%x3};": ".reg .f32 %x<4>;",
		"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [s];":                                                     ".shared .align 16 .b8 s[128];",
		"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}, [%q0];":              ".reg .b32 %x<8>;",
	} {
		j := newJob(t, declared, "setp.eq.u32 %a0, %t, 5; @%a0 exit; mov.b32 %r2, 0; mov.b32 %r3, 0; mov.b32 %r4, 0;\n"+
			strings.Repeat("mov.b32 %x0, 0; mov.b32 %x1, 0; mov.b32 %x2, 0; mov.b32 %x3, 0;", strings.Count(declared, ".f32"))+text, 1, 32)
		if err := j.device.Launch(j.launch); !errors.Is(err, gpu.ErrMask) || !strings.Contains(err.Error(), "31 lanes") {
			t.Errorf("%s: %v, expected a fault of 31 lanes", text, err)
		}
	}
}

// TestTensorCores checks the known properties of each generation. It adds products that
// are a power of 2 to 1: those of a group are added at once, truncated below the bits
// that are kept, and so is each sum.
func TestTensorCores(t *testing.T) {
	const one = 0x3f800000 // in f32, of which the last place is 2^-23
	hopper, ampere, turing := gpu.Compute{Major: 9}, gpu.Compute{Major: 8}, gpu.Compute{Major: 7, Minor: 5}
	for _, c := range []struct {
		cc     gpu.Compute
		power  int
		places []int // of the products that are not 0
		want   uint64
	}{
		{hopper, -25, []int{0, 1, 2, 3}, one + 1}, {hopper, -26, []int{0, 1, 2, 3, 4, 5, 6, 7}, one},
		{ampere, -24, []int{0, 1}, one + 1}, {ampere, -25, []int{0, 1, 2, 3}, one},
		{hopper, -24, []int{0, 8}, one + 1}, {ampere, -24, []int{0, 8}, one},
		{ampere, -24, []int{0, 4}, one + 1}, {turing, -24, []int{0, 4}, one},
	} {
		var x, y [16]arith.Term
		for i := range x {
			x[i], y[i] = arith.TermOf(0, arith.FormatOf("f16")), arith.TermOf(0x0400, arith.FormatOf("f16"))
		}
		for _, i := range c.places {
			x[i] = arith.TermOf(uint64(c.power+14+15)<<10, arith.FormatOf("f16")) // times 2^-14
		}
		if got := arith.TensorCoreOf(c.cc).Fuse(one, x[:], y[:], "f16", "f32"); got != c.want {
			t.Errorf("%v: 1 and 2^%d at %v: %#x, expected %#x", c.cc, c.power, c.places, got, c.want)
		}
	}
}
