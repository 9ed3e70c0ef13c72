package concat

import "warpbook/ops/ladder"

// cases bracket tiles of 4096, pieces of 2048 and vectors, with parts without elements,
// rows of one float, rows that are no whole vectors, and arrays that start at any
// element.
var cases = func() (all []ladder.Case) {
	for _, s := range []ladder.Size{
		{0, 0, 0}, {0, 3, 4}, {5, 0, 0}, {3, 0, 7}, {3, 7, 0}, {1, 1, 1}, {4099, 1, 1}, {1367, 1, 2}, {1, 5, 4}, {2, 8, 4}, {64, 64, 64},
		{1, 4095, 1}, {1, 4096, 4096}, {2, 4097, 4095}, {5, 1001, 23}, {7, 2048, 2052}, {3, 2044, 4100}, {9, 1000, 1047}, {2, 4, 8192},
	} {
		all = append(all, ladder.Case{Size: s})
	}
	for start := 1; start < 5; start++ {
		all = append(all, ladder.Case{Size: ladder.Size{5, 2052, 512}, Start: start})
	}
	return append(all, ladder.Case{Size: ladder.Size{1031, 1001, 23}, Long: true}, ladder.Case{Size: ladder.Size{257, 4096, 4096}, Long: true})
}()
