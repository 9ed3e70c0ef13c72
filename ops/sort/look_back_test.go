package sort

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/gpu/emu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
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
	for turn := range 60 {
		name := []string{"look_back_digits", "look_back_digits_by_four", "look_back_digits_by_eight"}[turn%3]
		entry, err := module.Entry(name)
		if err != nil {
			t.Fatal(err)
		}
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
			t.Errorf("%s, %d tiles, seed %d: %v, expected %v", name, tiles, seed, got, want)
		}
	}
}

// TestBlockOrder starts the last block first, in a grid of more tiles than a T4 holds at
// once: 80 of onesweep, 40 of the early tiles, and 40 of the wide ones, whose blocks get so
// much shared memory here that a multiprocessor holds one. Blocks that draw a ticket end;
// blocks whose tile is their number would wait for blocks that cannot start.
func TestBlockOrder(t *testing.T) {
	const n = 85*sweepTile + 1
	d := optest.EmulatorOf(t, "emu:t4").(*emu.Device)
	d.OrderBlocks(emu.Backwards)
	d.LimitSteps(200_000_000) // a busy machine lets a block wait for long
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
	for _, rung := range []string{"sort_onesweep", "sort_onesweep_ballots", "sort_onesweep_early"} { // sort_onesweep_wide and _match look back as the latter
		if err := buffers["sorted"].Upload(make([]uint32, n)); err != nil {
			t.Fatal(err)
		}
		h := run.NewHandle(d)
		h.Variant = rung
		err := h.Run(planned(Operator, func(p *ladder.Plan, info gpu.Info) {
			for i, step := range p.Steps {
				if step.Entry == "sort_onesweep_ballots_3" {
					p.Steps[i].Shared = info.SharedPerSM / 4
				}
			}
		}), ladder.Size{n}, buffers)
		h.Close()
		if err != nil {
			t.Errorf("%s: %v", rung, err)
			continue
		}
		got := make([]uint32, n)
		if err := buffers["sorted"].Download(got); err != nil {
			t.Fatal(err)
		}
		if !ladder.SameBits(got, want) {
			t.Errorf("%s: the keys are not sorted", rung)
		}
	}
	for _, o := range []*ladder.Operator{Uint64, Pairs} {
		b := optest.NewBench(t, d, o, 1, 44*4608+1)
		optest.CheckAll(t, b, "last block first", o.Name+"_onesweep_early")
	}
}

// TestEarlyTiles sorts around the ends of one tile and of two: 9216 keys of 4 bytes, 4608 or
// 6144 keys of 8 bytes or pairs. Each size has a data set by chance.
func TestEarlyTiles(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for _, c := range []struct {
			o    *ladder.Operator
			rung string
			tile int
		}{
			{Operator, "sort_onesweep_early", 9216}, {Int32, "sort_i32_onesweep_early", 9216}, {Float32, "sort_f32_onesweep_early", 9216},
			{Uint64, "sort_u64_onesweep_early", 4608}, {Pairs, "sort_pairs_onesweep_early", 4608},
			{Uint64, "sort_u64_onesweep_large", 6144}, {Pairs, "sort_pairs_onesweep_large", 6144},
		} {
			v, err := c.o.Variant(c.rung)
			if err != nil {
				t.Fatal(err)
			}
			for _, tiles := range []int{1, 2} { // a block for each tile: one more key needs one more block
				p := v.Plan(c.rung, ladder.Size{tiles * c.tile}, d.Info())
				more := v.Plan(c.rung, ladder.Size{tiles*c.tile + 1}, d.Info())
				if got, next := p.Steps[2].Grid.X, more.Steps[2].Grid.X; got != tiles || next != tiles+1 {
					t.Errorf("%s: %d and %d blocks, expected %d and %d", c.rung, got, next, tiles, tiles+1)
				}
			}
			if ladder.Older(d.Info().Compute, v.Needs) {
				t.Logf("%s: not run on %v, whose blocks have too little shared memory", c.rung, d.Info())
				continue
			}
			for _, n := range optest.Some(t, d, 2, []int{c.tile - 1, c.tile, c.tile + 1, 2*c.tile - 1, 2 * c.tile, 2*c.tile + 1, 3*c.tile + random.IntN(c.tile)}) {
				runs(t, d, c.o, seed, n, random, c.rung)
			}
		}
	})
}

// planned is an operator whose plans are changed.
func planned(o *ladder.Operator, change func(*ladder.Plan, gpu.Info)) *ladder.Operator {
	other := *o
	other.Variants = nil
	for _, v := range o.Variants {
		plan := v.Plan
		v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
			p := plan(entry, s, info)
			change(&p, info)
			return p
		}
		other.Variants = append(other.Variants, v)
	}
	return &other
}
