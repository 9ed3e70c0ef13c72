package sort

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// networkRungs merge runs that end in sentinels.
var networkRungs = []string{"sort_network_merge", "sort_network_few"}

// TestNetworkRuns merges one to 17 runs around the ends of tiles of both rungs, with random
// keys and with keys of which half are the smallest or equal to a sentinel.
func TestNetworkRuns(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	type item struct {
		n    int
		data string
	}
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		v, err := Operator.Variant(networkRungs[0])
		if err != nil {
			t.Fatal(err)
		}
		if ladder.Older(d.Info().Compute, v.Needs) {
			t.Skipf("%v has no cp.async, with which these rungs copy their runs", d.Info())
		}
		var all []item
		names := []string{Operator.Data[0].Name, "sentinels"}
		for _, tile := range []int{4096, 8192, 16384} {
			for _, runs := range []int{1, 2, 4, 5, 8} {
				for _, more := range []int{-1, 0, 1, 1 + random.IntN(tile-1)} {
					all = append(all, item{runs*tile + more, names[random.IntN(len(names))]})
				}
			}
		}
		for _, data := range names {
			all = append(all, item{17*4096 + 1, data})
		}
		all = optest.Some(t, d, 5, all)
		all = append(all, item{8*16384 + 1 + random.IntN(16383), "sentinels"}) // more than a pass, of runs that end in such keys
		for _, i := range all {
			b := optest.NewBench(t, d, Operator, seed, i.n)
			if err := b.UseData(i.data); err != nil {
				t.Fatal(err)
			}
			optest.CheckAll(t, b, fmt.Sprint(i.data, ", seed ", seed), networkRungs...)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestNetworkPlans has no more shared memory than a block of any GPU with cp.async, and tiles
// that the runs of a pass are made of whole. Splits belong to the rung of many keys alone.
func TestNetworkPlans(t *testing.T) {
	for _, c := range []struct {
		rung                             string
		n, steps, width, ways, tile, own int
		splits                           bool
	}{
		{"sort_network_merge", 16384, 1, 16384, 8, 16384, 32, false},
		{"sort_network_merge", 16385, 3, 16384, 8, 16384, 32, true},
		{"sort_network_merge", 1 << 26, 9, 16384, 8, 16384, 32, true},
		{"sort_network_few", 4096, 1, 4096, 4, 2048, 16, false},
		{"sort_network_few", 4097, 1, 8192, 4, 2048, 16, false},
		{"sort_network_few", 1 << 16, 3, 4096, 4, 2048, 16, false},
		{"sort_network_few", 1 << 17, 3, 8192, 4, 2048, 16, false},
		{"sort_network_few", 1 << 20, 5, 4096, 4, 2048, 16, false},
		{"sort_network_few", 1 << 21, 5, 8192, 4, 2048, 16, false},
	} {
		v, err := Operator.Variant(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		p := v.Plan(c.rung, ladder.Size{c.n}, gpu.Info{})
		splits := false
		for _, s := range p.Scratch {
			splits = splits || s.Name == "splits"
		}
		if width := p.Steps[0].Block.X * c.own; len(p.Steps) != c.steps || width != c.width || splits != c.splits {
			t.Fatalf("%s, %d keys: %d launches, tiles of %d, splits %v, expected %d, %d and %v", c.rung, c.n, len(p.Steps), width, splits, c.steps, c.width, c.splits)
		}
		if c.ways*c.width%c.tile != 0 {
			t.Errorf("%s: %d runs of %d keys do not divide into tiles of %d", c.rung, c.ways, c.width, c.tile)
		}
		for _, s := range p.Steps {
			if s.Shared > 99<<10 {
				t.Errorf("%s: %d bytes of shared memory, expected no more than the 99 KB of a block of sm_86", s.Entry, s.Shared)
			}
		}
		if last := p.Steps[len(p.Steps)-1]; c.steps > 1 && last.Grid.X != ladder.CeilDiv(c.n, c.tile) {
			t.Errorf("%s, %d keys: %d blocks, expected one for each %d keys", last.Entry, c.n, last.Grid.X, c.tile)
		}
	}
	v, err := Operator.Variant("sort_network_few")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Refuses(ladder.Size{networkMost}); err != nil {
		t.Error(err)
	}
	if err := v.Refuses(ladder.Size{networkMost + 1}); !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "at most 2097152") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%d keys: %v, expected one line with the capacity", networkMost+1, err)
	}
}

// TestChosenBySize has the rung that a handle runs: the last one that does not refuse.
func TestChosenBySize(t *testing.T) {
	for _, c := range []struct {
		n    int
		want string
	}{{blockMost, "sort_block_buckets"}, {blockMost + 1, "sort_network_few"}, {networkMost, "sort_network_few"}, {networkMost + 1, "sort_onesweep_early"}} {
		got := ""
		for _, v := range Operator.Variants {
			if v.Refuses == nil || v.Refuses(ladder.Size{c.n}) == nil {
				got = v.Name
			}
		}
		if got != c.want {
			t.Errorf("%d keys: %s, expected %s", c.n, got, c.want)
		}
	}
}
