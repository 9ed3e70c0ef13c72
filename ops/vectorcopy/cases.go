package vectorcopy

import "warpbook/ops/ladder"

// cases bracket warps, blocks of 256 threads, vectors, four vectors a thread, and the
// iterations of the loops, whose grids depend on the device.
var cases = func() (all []ladder.Case) {
	for _, n := range []int{0, 1, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 65_537} {
		all = append(all, ladder.Case{Size: ladder.Size{n}})
	}
	for start := 1; start < 5; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{5_003}, Start: start})
	}
	all = append(all, ladder.Case{Size: ladder.Size{10_007}, Data: "special"})
	for _, n := range []int{4_500_000, 9_000_011} { // past one turn, and four, of an H200's grid
		all = append(all, ladder.Case{Size: ladder.Size{n}, Long: true})
	}
	return all
}()
