package sort

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The states of a status, as onesweep.cuh has them.
const (
	tileCount   = 1 << 30
	prefixCount = 2 << 30
)

// TestLookBack looks back over statuses of random states: tiles that know their own
// counts alone, and prefixes that hide what lies before. A sort on the emulator seldom
// meets more than one tile without a prefix.
func TestLookBack(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	text, err := os.ReadFile("testdata/look_back.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	d := optest.Emulator(t)
	module, err := d.Load("look_back.ptx", string(text))
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	entry, err := module.Entry("look_back_digits")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		tiles, often := 1+random.IntN(50), 1+random.IntN(50)
		status, want := make([]uint32, 256*tiles), make([]uint32, 256)
		for i := range status {
			count := random.Uint32N(1000)
			if i < 256 || random.IntN(often) == 0 {
				status[i], want[i%256] = prefixCount|count, count
			} else {
				status[i], want[i%256] = tileCount|count, want[i%256]+count
			}
		}
		in, err := d.Alloc(gpu.Uint32, len(status))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Free()
		out, err := d.Alloc(gpu.Uint32, 256)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Free()
		if err := in.Upload(status); err != nil {
			t.Fatal(err)
		}
		if err := d.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 256}, Args: []any{in, out, uint32(tiles)}}); err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, 256)
		if err := out.Download(got); err != nil {
			t.Fatal(err)
		}
		if !ladder.SameBits(got, want) {
			t.Errorf("%d tiles, seed %d: %v, expected %v", tiles, seed, got, want)
		}
	}
}

// TestBlockOrder starts the last block first, in a grid of more tiles than the 80 that a
// T4 holds at once. Blocks that draw a ticket end; blocks whose tile is their number
// would wait for blocks that cannot start.
func TestBlockOrder(t *testing.T) {
	const n = 85*sweepTile + 1
	d := optest.EmulatorOf(t, "emu:t4").(*emu.Device)
	d.OrderBlocks(emu.Backwards)
	d.LimitSteps(200_000_000) // a busy machine lets a block wait for long
	h := bench.NewHandle(d)
	defer h.Close()
	h.Variant = "sort_onesweep"
	keys := Operator.Inputs(ladder.Size{n})[0].Random(nil, ladder.NewRandom(1))
	want := picked(keys, places(nil, keys))
	buffers := map[string]gpu.Buffer{}
	for _, name := range []string{"keys", "sorted"} {
		b, err := d.Alloc(gpu.Uint32, n)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		buffers[name] = b
	}
	if err := buffers["keys"].Upload(keys); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(Operator, ladder.Size{n}, buffers); err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, n)
	if err := buffers["sorted"].Download(got); err != nil {
		t.Fatal(err)
	}
	if !ladder.SameBits(got, want) {
		t.Error("the keys are not sorted")
	}
}
