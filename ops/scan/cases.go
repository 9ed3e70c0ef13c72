package scan

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// cases bracket warps, the tiles of 1024, 7680 (of uint64 3840) and 8192 elements, the 32 tiles of a
// window and of a group, and vectors that start anywhere.
func cases(t gpu.Type) []ladder.Case {
	var all []ladder.Case
	for _, n := range []int{0, 1, 2, 31, 33, 255, 257, 511, 513, 1023, 1025, 7681, 8193} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	if t == gpu.Uint64 {
		all = append(all, ladder.Case{Size: ladder.Size{3839}}, ladder.Case{Size: ladder.Size{3841}})
	}
	if t == gpu.Float32 {
		all = append(all, ladder.Case{Size: ladder.Size{4097}, Data: "special"}, ladder.Case{Size: ladder.Size{20_001}, Data: "normal"})
	}
	for start := 1; start < 4; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{2_051}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{15_360}}, ladder.Case{Size: ladder.Size{35_000}},
		ladder.Case{Size: ladder.Size{270_337}, Long: true})
}
