package sparse

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The rungs with tall panels refuse rows of B without vectors, and many panels for few entries.
func TestTallRefuses(t *testing.T) {
	for _, shape := range []tall{tall16, tall32} {
		for _, c := range []struct {
			size ladder.Size
			says string
		}{
			{ladder.Size{16384, 16384, 2_684_354, 256}, ""},
			{ladder.Size{1 << 20, shape.rows, 1, 4}, ""},
			{ladder.Size{1<<20 + 1, shape.rows, 1 << 20, 4}, "1 panels of B for 1048577 rows with 1048576 entries"},
			{ladder.Size{1<<20 + 1, shape.rows, 1<<20 + 1, 4}, ""},
			{ladder.Size{1 << 20, 2474 * shape.rows, 1 << 24, 4}, "2474 panels of B"},
			{ladder.Size{2, 500 * shape.rows, 1, 4}, ""},
			{ladder.Size{2, 500*shape.rows + 1, 1, 4}, "501 panels of B"},
			{ladder.Size{5, 7, 9, 6}, "k = 6, expected a multiple of 4: pick spmm_vec4"},
		} {
			err := shape.refuses(c.size)
			if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("panels of %d rows, %v: %v, expected %q", shape.rows, c.size, err, c.says)
			}
		}
	}
}

// Rows of more than 256 entries are read twice, and those of more entries in a panel than a
// list has places, 12 or 10, take more than one turn.
func TestTallRows(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), SpMM, 1, 6, 9000, 3000, 4)
	optest.CheckAll(t, b, "long rows", "spmm_tall", "spmm_tall_32_warps")
}
