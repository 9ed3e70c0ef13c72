package histogram

import "warpbook/ops/ladder"

func reference(stop ladder.Stop, x []int32, bins int) []ladder.Expected {
	counts, dropped := make([]uint32, bins), make([]uint32, 1)
	stop.Pieces(len(x), func(from, to int) {
		for _, v := range x[from:to] {
			if v >= 0 && int(v) < bins {
				counts[v]++
			} else {
				dropped[0]++
			}
		}
	})
	return []ladder.Expected{{Exact: counts}, {Exact: dropped}}
}
