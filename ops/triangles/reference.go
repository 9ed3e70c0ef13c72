package triangles

import (
	"sync"
	"sync/atomic"

	"warpbook/ops/ladder"
)

// Count is the number of triangles of the rows from First on, computed on the host's cores.
func (g *Graph) Count() uint64 { return g.count(nil) }

// count sets a bit for each vertex of row u, and looks up the rows of its vertices. The bits
// of a core stay in its cache.
func (g *Graph) count(stop ladder.Stop) uint64 {
	var sum atomic.Uint64
	free := sync.Pool{New: func() any {
		bits := make([]uint64, (g.Vertices()+63)/64)
		return &bits
	}}
	parallel(g.Vertices(), func(from, to int) {
		kept := free.Get().(*[]uint64)
		defer free.Put(kept)
		bits := *kept
		var found uint64
		for u := max(from, g.First); u < to && !stop.Now(); u++ {
			for _, v := range g.Row(u) {
				bits[v/64] |= 1 << (v % 64)
			}
			for _, v := range g.Row(u) {
				for _, w := range g.Row(int(v)) {
					found += bits[w/64] >> (w % 64) & 1
				}
			}
			for _, v := range g.Row(u) {
				bits[v/64] = 0
			}
		}
		sum.Add(found)
	})
	return sum.Load()
}
