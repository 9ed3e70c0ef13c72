package lab

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile"
	"warpbook/gpu/device"
)

// TestRing: the cycle visits one word of each stride once and ends at word 0.
func TestRing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for _, size := range [][2]int{{2, 1}, {256, 1}, {1024, 32}} {
		words, stride := size[0], size[1]
		next := Ring(words, stride, rand.New(rand.NewPCG(seed, 0)))
		seen := map[uint32]bool{}
		for steps := range words / stride {
			at := Follow(next, steps)
			if seen[at] || int(at)%stride != 0 {
				t.Fatalf("%d words, stride %d, seed %d: step %d is at word %d again or between strides", words, stride, seed, steps, at)
			}
			seen[at] = true
		}
		if end := Follow(next, words/stride); end != 0 {
			t.Errorf("%d words, stride %d, seed %d: the cycle ends at word %d, expected 0", words, stride, seed, end)
		}
	}
}

// ended is the message of the panic of f, "" without one.
func ended(f func()) (message any) {
	defer func() { message = recover() }()
	f()
	return nil
}

// TestCheckEndsCell: a false statement and an error end the cell, a true one does not.
func TestCheckEndsCell(t *testing.T) {
	if got := ended(func() { Check(false, "all lanes agree", 3, "x") }); got != "all lanes agree: [3 x]" {
		t.Errorf("a false statement ends with %v", got)
	}
	if got := ended(func() { Check(true, "", 1); Must(nil, nil) }); got != nil {
		t.Errorf("a true statement ends with %v", got)
	}
	if got := ended(func() { Must(nil, gpu.ErrArgument) }); got == nil {
		t.Error("an error ends no cell")
	}
}

const add = `.version 6.4
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<5>;
	.reg .f32 %f<2>;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd1, %r1, 4;
	ld.param.u64 %rd2, [x];
	ld.param.u64 %rd3, [y];
	add.u64 %rd2, %rd2, %rd1;
	add.u64 %rd3, %rd3, %rd1;
	ld.global.f32 %f1, [%rd2];
	st.global.f32 [%rd3], %f1;
	ret;
}
`

// TestSums: an entry that copies passes the check of a sum, and one element off fails it.
func TestSums(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	emulator := device.MustOpen("emu")
	defer emulator.Close()
	const n = 32
	s := NewSums(emulator, emulator, n, n, seed, rand.New(rand.NewPCG(seed, 0)))
	module, err := compile.PTX("add.ptx", add, 1)
	if err != nil {
		t.Fatal(err)
	}
	y := Buffer(emulator, gpu.Float32, n, Unset(n))
	c := Counted(emulator, module.Entries[0], gpu.Dim{X: 1}, gpu.Dim{X: n}, s.Counts, y, uint32(n))
	if c.GlobalLoad.Sectors != 4 || c.GlobalStore.Requests != 1 {
		t.Errorf("%d sectors loaded and %d stores, expected 4 and 1", c.GlobalLoad.Sectors, c.GlobalStore.Requests)
	}
	if got := ended(func() { s.Verify("copy", y, n, PerThread(n, 32), 1) }); got != nil {
		t.Errorf("seed %d: the right sum ends with %v", seed, got)
	}
	wrong := Float32s(y)
	wrong[7] += 1
	Must(y.Upload(wrong))
	if ended(func() { s.Verify("copy", y, n, PerThread(n, 32), 1) }) == nil {
		t.Errorf("seed %d: a sum that is off by 1 passes", seed)
	}
	if s.Near(math.NaN(), n, n) {
		t.Error("NaN passes")
	}
	if got := s.Timed(module.Entries[0], 1, n, n, n); got != NeedsGPU {
		t.Errorf("the emulator has a time: %v", got)
	}
}
