package scan

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/ops/optest"
)

// The states of a tile, as scan.cuh has them.
const (
	tileSum = 1
	prefix  = 2
)

// TestLookBack looks back over statuses of random states: tiles that know their own sums
// alone, in windows of 32 and across them, and prefixes that hide what lies before. A
// scan on the emulator seldom meets more than one tile without a prefix.
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
	for range 30 {
		tile := 1 + random.IntN(100)
		floats, segments, words := make([]uint64, tile), make([]uint64, tile), make([]uint64, 2*tile)
		var sum, segmentSum float32
		var wide uint64
		often := 1 + random.IntN(100)
		for i := range tile {
			v, begins, state := float32(random.IntN(100)), uint64(random.IntN(20)/19), uint64(tileSum)
			if i == 0 || random.IntN(often) == 0 {
				state = prefix
			}
			w := random.Uint64()
			if state == prefix {
				sum, segmentSum, wide = 0, 0, 0
			}
			if begins == 1 {
				segmentSum = 0
			}
			sum, segmentSum, wide = sum+v, segmentSum+v, wide+w
			floats[i] = state<<32 | uint64(math.Float32bits(v))
			segments[i] = begins<<34 | floats[i]
			words[2*i], words[2*i+1] = state<<32|w&math.MaxUint32, state<<32|w>>32
		}
		for _, c := range []struct {
			entry  string
			status []uint64
			want   any
		}{{"look_back_float", floats, []float32{sum}}, {"look_back_segment", segments, []float32{segmentSum}}, {"look_back_u64", words, []uint64{wide}}} {
			if got := lookBack(t, d, module, c.entry, c.status, c.want, tile); !equal(got, c.want) {
				t.Errorf("%s over %d tiles, seed %d: %v, expected %v", c.entry, tile, seed, got, c.want)
			}
		}
	}
}

// TestOfGroup adds the sums of a tile's own group to the sum before that group, for tiles in
// the first group, at both ends of the second, and within the third.
func TestOfGroup(t *testing.T) {
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
	for _, tile := range []int{0, 1, 31 + random.IntN(3), 255, 256, 257, 511, 512 + random.IntN(256)} {
		floats, words := make([]uint64, tile+1), make([]uint64, 2*tile+2)
		groups, wideGroups := make([]uint64, 4), make([]uint64, 8)
		var sum float32
		var wide uint64
		for i := range tile {
			v, w := float32(random.IntN(100)), random.Uint64()
			sum, wide = sum+v, wide+w
			floats[i] = tileSum<<32 | uint64(math.Float32bits(v))
			words[2*i], words[2*i+1] = tileSum<<32|w&math.MaxUint32, tileSum<<32|w>>32
			if g := (i + 1) / pipelineGroup; (i+1)%pipelineGroup == 0 {
				groups[g] = prefix<<32 | uint64(math.Float32bits(sum))
				wideGroups[2*g], wideGroups[2*g+1] = prefix<<32|wide&math.MaxUint32, prefix<<32|wide>>32
			}
		}
		if got := lookBack(t, d, module, "of_group_float", floats, []float32{sum}, tile, groups); !equal(got, []float32{sum}) {
			t.Errorf("float before tile %d, seed %d: %v, expected %v", tile, seed, got, sum)
		}
		if got := lookBack(t, d, module, "of_group_u64", words, []uint64{wide}, tile, wideGroups); !equal(got, []uint64{wide}) {
			t.Errorf("uint64 before tile %d, seed %d: %v, expected %v", tile, seed, got, wide)
		}
	}
}

// TestTornStatus looks back over a status of uint64 whose words have two states, as a reader
// may find them while the second is on its way: it must wait, and here the second never
// comes. With both words it ends.
func TestTornStatus(t *testing.T) {
	text, err := os.ReadFile("testdata/look_back.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	d := optest.Emulator(t).(*emu.Device)
	d.LimitSteps(20_000)
	module, err := d.Load("look_back.ptx", string(text))
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	for _, states := range [][2]uint64{{prefix, prefix}, {prefix, tileSum}, {tileSum, prefix}, {prefix, 0}, {0, prefix}} {
		sum, err := runLookBack(d, module, "look_back_u64", []uint64{states[0]<<32 | 7, states[1]<<32 | 1}, make([]uint64, 1), 1)
		if states[0] == states[1] && (err != nil || !equal(sum, []uint64{1<<32 | 7})) {
			t.Errorf("states %v: %v, %v, expected the sum", states, sum, err)
		} else if states[0] != states[1] && !errors.Is(err, gpu.ErrStepLimit) {
			t.Errorf("states %v: %v, %v, expected that it waits until the limit of steps", states, sum, err)
		}
	}
}

func equal(a, b any) bool {
	switch x := a.(type) {
	case []float32:
		return x[0] == b.([]float32)[0]
	case []uint64:
		return x[0] == b.([]uint64)[0]
	}
	return false
}

// lookBack runs an entry on one warp and returns its sum, in the type of want.
func lookBack(t *testing.T, d gpu.Device, module gpu.Module, name string, status []uint64, want any, tile int, groups ...[]uint64) any {
	t.Helper()
	got, err := runLookBack(d, module, name, status, want, tile, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func runLookBack(d gpu.Device, module gpu.Module, name string, status []uint64, want any, tile int, groups ...[]uint64) (any, error) {
	entry, err := module.Entry(name)
	if err != nil {
		return nil, err
	}
	kind, got := gpu.Float32, any(make([]float32, 1))
	if _, wide := want.([]uint64); wide {
		kind, got = gpu.Uint64, make([]uint64, 1)
	}
	in, err := d.Alloc(gpu.Uint64, len(status))
	if err != nil {
		return nil, err
	}
	defer in.Free()
	out, err := d.Alloc(kind, 1)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	if err := in.Upload(status); err != nil {
		return nil, err
	}
	args := []any{in, out, uint32(tile)}
	for _, g := range groups {
		before, err := d.Alloc(gpu.Uint64, len(g))
		if err != nil {
			return nil, err
		}
		defer before.Free()
		if err := before.Upload(g); err != nil {
			return nil, err
		}
		args = append(args, before)
	}
	launch := gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: args}
	if err := errors.Join(d.Launch(launch), d.Sync()); err != nil {
		return nil, err
	}
	return got, out.Download(got)
}
