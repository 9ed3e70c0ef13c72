package triangles

import (
	"slices"
	"sync/atomic"

	"warpbook/ops/ladder"
)

// One is the work of a vertex if all are equal.
func (g *Graph) One(int) uint64 { return 1 }

// Degree is the number of edges in row u.
func (g *Graph) Degree(u int) uint64 { return uint64(len(g.Row(u))) }

// Wedges is the number of pairs in row u.
func (g *Graph) Wedges(u int) uint64 {
	d := g.Degree(u)
	return d * (max(d, 1) - 1) / 2
}

// Lookups is how many vertices of the rows of its neighbours are looked up in row u.
func (g *Graph) Lookups(u int) (sum uint64) {
	for _, v := range g.Row(u) {
		sum += g.Degree(int(v))
	}
	return sum
}

// Packed returns the work of triangles_packed in row u, in units of about 19 of a warp's
// instructions: a warp takes four neighbours at a time, each by eight lanes that look up a
// word of its row each, as long as the longest of the four rows has words. A row and the
// packing of it cost some more. Counters of the emulator gave the weights.
func (g *Graph) Packed() func(u int) uint64 {
	n := g.Vertices()
	steps, work := make([]uint32, n), make([]uint64, n)
	parallel(n, func(from, to int) {
		for v := from; v < to; v++ {
			steps[v] = (words32(g.Row(v)) + 7) / 8
		}
	})
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			row := g.Row(u)
			switch len(row) {
			case 0:
				work[u] = 4
			case 1:
				work[u] = 6
			default:
				sum := uint64(9)
				for four := range slices.Chunk(row, 4) {
					most := uint32(0)
					for _, v := range four {
						most = max(most, steps[v])
					}
					sum += 4 * uint64(most)
				}
				work[u] = sum
			}
		}
	})
	return func(u int) uint64 { return work[u] }
}

// Dense returns the work of triangles_dense in row u. An edge to a hub loads a line of row v
// for each 1024 vertices among which row u has some up to v, and an edge to another vertex is
// a search for each vertex of row u before it. Times on an H200 of the rows from several
// vertices on, of RMAT 20 and 22, gave the weights.
func (g *Graph) Dense() func(u int) uint64 {
	n := g.Vertices()
	hubs, work := uint32(hubs(ladder.Size{n, g.Edges()})), make([]uint64, n)
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			row, lines, sum := g.Row(u), uint64(0), uint64(12)
			for i, v := range row {
				if i == 0 || v/1024 != row[i-1]/1024 {
					lines++
				}
				if sum += 3; v < hubs {
					sum += 2 * lines
				} else {
					sum += uint64(i)
				}
			}
			work[u] = sum
		}
	})
	return func(u int) uint64 { return work[u] }
}

// words32 is how many words of 32 vertices have some of a row.
func words32(row []uint32) (words uint32) {
	for i, v := range row {
		if i == 0 || v/32 != row[i-1]/32 {
			words++
		}
	}
	return words
}

// Sum adds up the work of all vertices.
func (g *Graph) Sum(work func(u int) uint64) (sum uint64) {
	for u := range g.Vertices() {
		sum += work(u)
	}
	return sum
}

// Cut returns the bounds of so many parts of neighbouring vertices with equal work:
// part i is from bounds[i] to bounds[i+1].
func (g *Graph) Cut(parts int, work func(u int) uint64) (bounds []int) {
	all, sum := g.Sum(work), uint64(0)
	bounds = []int{0}
	for u := range g.Vertices() {
		for len(bounds) < parts && sum*uint64(parts) >= all*uint64(len(bounds)) {
			bounds = append(bounds, u)
		}
		sum += work(u)
	}
	for len(bounds) <= parts {
		bounds = append(bounds, g.Vertices())
	}
	return bounds
}

// Part is what a device needs to count the triangles of the vertices from one up to
// another: their rows, and before them the rows of the external vertices, those before
// from that they are joined to. A row of an external vertex keeps only vertices of the
// part: no other can close a triangle. Vertices keep their order and are numbered anew;
// First is the number of external ones.
func (g *Graph) Part(from, to int) *Graph {
	const unknown = ^uint32(0)
	number := make([]uint32, from) // of the vertices before from; unknown for those that are not external
	for v := range number {
		number[v] = unknown
	}
	parallel(to-from, func(first, last int) {
		for u := from + first; u < from+last; u++ {
			for _, v := range g.Row(u) {
				if int(v) < from && atomic.LoadUint32(&number[v]) == unknown {
					atomic.StoreUint32(&number[v], 0)
				}
			}
		}
	})
	var external []uint32
	for v := range number {
		if number[v] != unknown {
			number[v] = uint32(len(external))
			external = append(external, uint32(v))
		}
	}
	n := len(external) + to - from
	p := &Graph{Rows: make([]uint32, n+1), First: len(external)}
	row := func(u int, f func(v uint32)) { // its columns by their new numbers
		old := from + u - len(external)
		if u < len(external) {
			old = int(external[u])
		}
		for _, v := range g.Row(old) {
			if int(v) >= from {
				f(uint32(len(external)) + v - uint32(from))
			} else if i := number[v]; i != unknown {
				f(i)
			}
		}
	}
	parallel(n, func(first, last int) {
		for u := first; u < last; u++ {
			row(u, func(uint32) { p.Rows[u+1]++ })
		}
	})
	add(p.Rows)
	p.Columns = make([]uint32, p.Rows[n])
	parallel(n, func(first, last int) {
		for u := first; u < last; u++ {
			next := p.Rows[u]
			row(u, func(v uint32) {
				p.Columns[next] = v
				next++
			})
		}
	})
	return p
}

// Bytes are those of rows and columns.
func (g *Graph) Bytes() int { return 4 * (len(g.Rows) + len(g.Columns)) }

// External are the bytes of the rows of external vertices, with their bounds: what
// other parts send to this one.
func (g *Graph) External() int { return 4 * (g.First + int(g.Rows[g.First])) }
