package triangles

import (
	"sync/atomic"

	"warpbook/ops/ladder"
)

// Count is the number of triangles of the rows from First on, computed on the host's cores.
func (g *Graph) Count() uint64 { return g.count(nil) }

// count sets a mark for each vertex of row u, and looks up the rows of its vertices.
func (g *Graph) count(stop ladder.Stop) uint64 {
	var sum atomic.Uint64
	parallel(g.Vertices(), func(from, to int) {
		marks := make([]bool, g.Vertices())
		var found uint64
		for u := max(from, g.First); u < to && !stop.Now(); u++ {
			for _, v := range g.Row(u) {
				marks[v] = true
			}
			for _, v := range g.Row(u) {
				for _, w := range g.Row(int(v)) {
					if marks[w] {
						found++
					}
				}
			}
			for _, v := range g.Row(u) {
				marks[v] = false
			}
		}
		sum.Add(found)
	})
	return sum.Load()
}
