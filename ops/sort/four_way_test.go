package sort

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// crowded is an operator whose rungs are planned for a device with one multiprocessor, so
// that few keys are sorted in the largest tiles that the device has memory for.
func crowded(o *ladder.Operator) *ladder.Operator {
	few := *o
	few.Variants = nil
	for _, v := range o.Variants {
		plan := v.Plan
		v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
			info.SMs = 1
			return plan(entry, s, info)
		}
		few.Variants = append(few.Variants, v)
	}
	return &few
}

// TestRuns merges one run to five, and 17, around the ends of runs, of tiles of every size
// that a device has. Each size has a data set by chance, and the emulators of ordinary runs
// one of the sizes.
func TestRuns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for _, c := range []struct {
			o     *ladder.Operator
			rungs []string
			n     int
		}{
			{Operator, []string{"sort_tile_merge", "sort_four_way"}, 33 * 256},
			{Pairs, []string{"sort_pairs_four_way"}, 17 * 256},
		} {
			sizes := []int{c.n + random.IntN(2), 2*c.n + random.IntN(3) - 1, 3*c.n + 1 + random.IntN(c.n)}
			if !d.Info().Emulated {
				sizes = append(sizes, 16*c.n+1)
			}
			for _, n := range optest.Some(t, d, 1, sizes) {
				runs(t, d, c.o, seed, n, random, c.rungs...)
			}
			runs(t, d, crowded(c.o), seed, 4*c.n+1+random.IntN(c.n), random, c.rungs...)
		}
	})
}

func runs(t *testing.T, d gpu.Device, o *ladder.Operator, seed uint64, n int, random *rand.Rand, rungs ...string) {
	b := optest.NewBench(t, d, o, seed, n)
	data := o.Data[random.IntN(len(o.Data))].Name
	if err := b.UseData(data); err != nil {
		t.Fatal(err)
	}
	optest.CheckAll(t, b, fmt.Sprint(data, ", seed ", seed), rungs...)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestTiles chooses the smallest tile with the fewest passes, of those that fit the shared
// memory of a block and give each multiprocessor one.
func TestTiles(t *testing.T) {
	keys, pairs := layout{gpu.Uint32, false}, layout{gpu.Uint32, true}
	for _, c := range []struct {
		m       merger
		n       int
		info    gpu.Info
		threads int
		passes  int // merges
	}{
		{keys.large(4), 1 << 26, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 512, 6},
		{keys.large(4), 1 << 27, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 1024, 6},
		{keys.large(4), 1 << 27, gpu.Info{SMs: 82, SharedPerBlockMax: 99 << 10}, 256, 7},
		{keys.large(2), 1 << 26, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 1024, 11},
		{pairs.large(4), 1 << 26, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 1024, 6},
		{pairs.large(4), 1 << 26, gpu.Info{SMs: 40, SharedPerBlockMax: 64 << 10}, 256, 7},
		{keys.large(4), 1 << 20, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 256, 4},
		{keys.large(4), 33 * 256, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 256, 0},
		{keys.large(4), 33*256 + 1, gpu.Info{SMs: 132, SharedPerBlockMax: 227 << 10}, 256, 1},
	} {
		threads := c.m.threads(c.n, c.info)
		if passes := c.m.passes(c.n, threads*c.m.items); threads != c.threads || passes != c.passes {
			t.Errorf("%d keys, %d ways, %v: %d threads, %d passes, expected %d and %d", c.n, c.m.ways, c.info.SharedPerBlockMax, threads, passes, c.threads, c.passes)
		}
	}
}
