package sort

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// blockRungs sort in one block.
var blockRungs = []string{"sort_block_radix"}

// TestBlock sorts around the capacity of each block, with every data set.
func TestBlock(t *testing.T) {
	type item struct {
		n    int
		data string
	}
	var all []item
	for _, n := range []int{0, 1, 31, 1023, 1024, 1025, 4095, 4096, 4097, blockMost - 1, blockMost} {
		for _, d := range Operator.Data {
			all = append(all, item{n, d.Name})
		}
	}
	seed := uint64(time.Now().UnixNano())
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		for _, i := range optest.Some(t, d, 8, all) {
			b := optest.NewBench(t, d, Operator, seed, i.n)
			if err := b.UseData(i.data); err != nil {
				t.Fatal(err)
			}
			optest.CheckAll(t, b, fmt.Sprint(i.data, ", seed ", seed), blockRungs...)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestBlockPlans chooses the smallest block that has room, of no more shared memory than
// that of a T4, and refuses one key too many.
func TestBlockPlans(t *testing.T) {
	for _, name := range blockRungs {
		v, err := Operator.Variant(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			n, threads, least int // bytes: those of the keys
		}{{1, 256, 4 << 10}, {1024, 256, 4 << 10}, {1025, 512, 16 << 10}, {4096, 512, 16 << 10}, {4097, 512, 64 << 10}, {16384, 512, 64 << 10}} {
			if err := v.Refuses(ladder.Size{c.n}); err != nil {
				t.Error(err)
			}
			p := v.Plan(name, ladder.Size{c.n}, gpu.Info{})
			if len(p.Steps) != 1 || len(p.Scratch) != 0 {
				t.Fatalf("%s, %d keys: %+v, expected one launch and no scratch", name, c.n, p)
			}
			s := p.Steps[0]
			if s.Block.X != c.threads || s.Grid.X != 1 || s.Shared < c.least || s.Shared >= c.least+4<<10 || s.Shared > 64<<10 || len(s.Zero) != 0 {
				t.Errorf("%s, %d keys: %+v, expected one block of %d threads, %d bytes and the counts, at most 64 KB, and no fill", name, c.n, s, c.threads, c.least)
			}
		}
		err = v.Refuses(ladder.Size{blockMost + 1})
		if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "at most 16384") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %d keys: %v, expected one line with the capacity", name, blockMost+1, err)
		}
	}
}
