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

// blockRungs sort in one block.
var blockRungs = []string{"sort_block_radix", "sort_block_buckets"}

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
			if s.Block.X != c.threads || s.Grid.X != 1 || s.Shared < c.least || s.Shared > 2*c.least || s.Shared > 64<<10 || len(s.Zero) != 0 {
				t.Errorf("%s, %d keys: %+v, expected one block of %d threads, %d bytes of keys and at most as many of counts, 64 KB in all, and no fill", name, c.n, s, c.threads, c.least)
			}
		}
		err = v.Refuses(ladder.Size{blockMost + 1})
		if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "at most 16384") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %d keys: %v, expected one line with the capacity", name, blockMost+1, err)
		}
	}
}

// TestBuckets fills buckets with one to 16 keys, many of them equal, and then one with 17.
// The 17 take the passes of sort_block_radix, which are more instructions.
func TestBuckets(t *testing.T) {
	d := optest.Emulator(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for i, shape := range blockShapes {
		n := shape.threads*shape.items - random.IntN(100)
		var instructions [2]uint64
		for turn, most := range []int{16, 17} {
			var keys []uint32
			low := 32 - shape.bits
			buckets := random.Perm(1 << shape.bits)
			for crowd := most; len(keys) < n; crowd = 1 + random.IntN(16) {
				bucket := uint32(buckets[len(keys)%len(buckets)]) // never one twice: n is at most their number
				bits := random.Uint32N(1 << low)
				for range min(crowd, n-len(keys)) {
					keys = append(keys, bucket<<low|bits)
					if random.IntN(2) == 0 {
						bits = random.Uint32N(1 << low)
					}
				}
			}
			random.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			b := optest.NewBench(t, d, Operator, seed, n)
			if err := b.SetInput("keys", keys); err != nil {
				t.Fatal(err)
			}
			optest.CheckAll(t, b, fmt.Sprintf("at most %d keys a bucket, seed %d", most, seed), "sort_block_buckets")
			counts, err := b.Count("sort_block_buckets")
			if err != nil {
				t.Fatal(err)
			}
			instructions[turn] = uint64(counts.Rows[0].Total.WarpInstructions)
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		t.Logf("%d keys: %d instructions of warps, with a crowded bucket %d", n, instructions[0], instructions[1])
		if instructions[1] < instructions[0]*3/2 {
			t.Errorf("block %d, %d keys, seed %d: %d instructions with a bucket of 17, %d without, expected the passes to take half as many again", i, n, seed, instructions[1], instructions[0])
		}
	}
}
