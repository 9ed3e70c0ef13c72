package ops_test

import (
	"errors"
	"slices"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops"
	"warpbook/ops/bench"
)

// TestTilePictures: the tile that the first block of a rung stores, as drawn from its PTX,
// has the shape that the rung's source says.
func TestTilePictures(t *testing.T) {
	emulator := device.MustOpen("emu")
	defer emulator.Close()
	b := ops.MustBench(emulator, ops.Gemm, 1, 128, 128, 16)
	defer b.Close()
	for rung, want := range map[string]struct {
		cells   int
		thread0 [][2]int // cells of thread 0
		lane1   [2]int   // the first cell of thread 1
	}{
		"gemm_uncoalesced":   {32, [][2]int{{0, 0}}, [2]int{1, 0}},
		"gemm_naive_32":      {32, [][2]int{{0, 0}}, [2]int{0, 1}},
		"gemm_float4":        {32, [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, [2]int{0, 2}},
		"gemm_conflict_free": {32, [][2]int{{0, 0}, {0, 16}, {16, 0}, {16, 16}}, [2]int{0, 1}},
		"gemm_warp_tile":     {32, [][2]int{{0, 0}, {0, 4}, {8, 0}, {8, 4}}, [2]int{0, 1}},
	} {
		touches, err := bench.Touches(b, rung, "d")
		if err != nil {
			t.Fatal(err)
		}
		tile, err := touches.Tile(128)
		if err != nil {
			t.Fatal(err)
		}
		columns, rows, text, level := tile.Cells()
		if len(columns) != want.cells || len(rows) != want.cells {
			t.Errorf("%s: %d x %d cells, expected %d", rung, len(rows), len(columns), want.cells)
		}
		var of0 [][2]int
		lane1 := [2]int{-1, -1}
		for i := range level {
			for j := range level[i] {
				if level[i][j] == 1 {
					of0 = append(of0, [2]int{i, j})
				}
				if lane1[0] < 0 && level[i][j] == 2 && text[i][j] == "1" {
					lane1 = [2]int{i, j}
				}
			}
		}
		if !slices.Equal(of0, want.thread0) {
			t.Errorf("%s: thread 0 has cells %v, expected %v", rung, of0, want.thread0)
		}
		if lane1 != want.lane1 {
			t.Errorf("%s: the first cell of thread 1 is %v, expected %v", rung, lane1, want.lane1)
		}
	}
	loads, err := bench.Touches(b, "gemm_naive_32", "a")
	if err == nil {
		_, err = loads.Tile(128)
	}
	if !errors.Is(err, gpu.ErrArgument) && !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("the tile of an input: %v, expected an error", err)
	}
	if _, err := bench.Touches(b, "gemm_float4", "e"); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("a tensor e: %v, expected gpu.ErrNotFound", err)
	}
}

// TestBorderPictures: a block of conv1d_shared loads the elements of its outputs and a halo
// of four on either side once; conv1d_global loads each element once for each tap.
func TestBorderPictures(t *testing.T) {
	emulator := device.MustOpen("emu")
	defer emulator.Close()
	b := ops.MustBench(emulator, ops.Conv1d, 1, 1024, 9)
	defer b.Close()
	for rung, want := range map[string]string{"conv1d_global": "9", "conv1d_shared": "1"} {
		x, err := bench.Touches(b, rung, "x")
		if err != nil {
			t.Fatal(err)
		}
		y, err := bench.Touches(b, rung, "y")
		if err != nil {
			t.Fatal(err)
		}
		if loaded, stored := x.Elements(1), y.Elements(1); loaded[0] != 252 || len(loaded) != 264 || stored[0] != 256 || len(stored) != 256 {
			t.Errorf("%s: block 1 loads %d elements from %d on and stores %d from %d on, expected 264 from 252 and 256 from 256", rung, len(loaded), loaded[0], len(stored), stored[0])
		}
		border, err := x.Border(y)
		if err != nil {
			t.Fatal(err)
		}
		columns, rows, text, level := border.Cells()
		first := slices.Index(columns, "244")
		if first != 0 || len(rows) != 4 || text[0][0] != want || level[0][0] != 1 {
			t.Errorf("%s: block 0 loads element 244 %q times at column %d, expected %s at column 0", rung, text[0][0], first, want)
		}
		if level[0][15] != 2 || level[0][16] != 0 || level[1][7] != 0 || level[1][8] != 2 {
			t.Errorf("%s: levels %v and %v, expected a halo of four", rung, level[0], level[1])
		}
	}
}
