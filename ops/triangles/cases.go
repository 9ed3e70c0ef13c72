package triangles

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// RMAT makes edges of a recursive matrix (a, b, c, d = 0.57, 0.19, 0.19, 0.05): n vertices,
// of which few have very many neighbours. Self loops and duplicates are among them. The
// edges depend on the seed alone, not on the number of cores. More than the host's memory has
// room for are a panic.
func RMAT(n, edges int, seed uint64) []Edge {
	if n < 1 || edges < 1 {
		return nil
	}
	if err := gpu.CheckHost(8 * float64(edges)); err != nil { // a panic ends a cell, a lack of memory its program
		panic(fmt.Errorf("ops: triangles: %d edges of RMAT: %w: make fewer", edges, err))
	}
	all := make([]Edge, edges)
	levels := bits.Len(uint(n - 1))
	parallel(edges, func(from, to int) {
		random := rand.NewPCG(seed, uint64(from/part))
		for i := from; i < to; i++ {
			var u, v, word uint64
			for level := range levels {
				if level%4 == 0 {
					word = random.Uint64()
				}
				x := uint32(word & 0xffff)
				word >>= 16
				fromA, fromB, fromC := (37355-x)>>31, (49806-x)>>31, (62258-x)>>31 // 1 where x is 0.57, 0.76 or 0.95 of 65536 or more
				u, v = u<<1|uint64(fromB), v<<1|uint64(fromA^fromB^fromC)
			}
			all[i] = Edge{uint32(u % uint64(n)), uint32(v % uint64(n))}
		}
	})
	return all
}

// dataSets are graphs that fit a size; of the caller's one, it is the first.
func dataSets(g *Graph) []ladder.DataSet {
	made := func(name, text string, edges func(n, m int, random *rand.Rand) []Edge) ladder.DataSet {
		return ladder.DataSet{Name: name, Text: text, Make: func(_ ladder.Stop, tensors []ladder.Tensor, random *rand.Rand) []ladder.Values {
			n, m := tensors[0].Len-1, tensors[1].Len
			return inputs(orient(n, edges(n, m, random)), m)
		}}
	}
	all := []ladder.DataSet{
		made("rmat", "RMAT of a, b, c, d = 0.57, 0.19, 0.19, 0.05, self loops and duplicates removed", func(n, m int, random *rand.Rand) []Edge {
			return RMAT(n, m, random.Uint64())
		}),
		made("grid", "a square grid with one diagonal in every other cell, numbered at random", func(n, m int, random *rand.Rand) []Edge { return Grid(n, m, random) }),
		made("star", "one vertex that is the neighbour of all others", func(n, m int, _ *rand.Rand) []Edge { return Star(n, m) }),
		made("clique", "all edges between as many vertices as fit", func(n, m int, _ *rand.Rand) []Edge { return Clique(n, m) }),
	}
	if g == nil {
		return all
	}
	return append([]ladder.DataSet{{Name: "graph", Text: "the caller's graph", Make: func(_ ladder.Stop, tensors []ladder.Tensor, _ *rand.Rand) []ladder.Values {
		if tensors[0].Len != len(g.Rows) || tensors[1].Len < g.Edges() {
			return inputs(orient(tensors[0].Len-1, nil), tensors[1].Len)
		}
		return inputs(g, tensors[1].Len)
	}}}, all...)
}

// inputs are the rows of a graph, and its columns in a tensor of m.
func inputs(g *Graph, m int) []ladder.Values {
	columns := make([]uint32, m)
	copy(columns, g.Columns)
	return []ladder.Values{g.Rows, columns}
}

// Grid is the largest square grid of at most n vertices and m edges, like a map of roads:
// few neighbours each, and no vertex near to all. Every other cell has a diagonal, which
// makes two triangles of it. It is numbered at random, or row by row where random is nil.
func Grid(n, m int, random *rand.Rand) []Edge {
	side := 0
	for (side+1)*(side+1) <= n && gridEdges(side+1) <= m {
		side++
	}
	place := func(v int) uint32 { return uint32(v) }
	if random != nil {
		order := random.Perm(n)
		place = func(v int) uint32 { return uint32(order[v]) }
	}
	all := make([]Edge, 0, gridEdges(side))
	edge := func(a, b int) { all = append(all, Edge{place(a), place(b)}) }
	for y := range side {
		for x := range side {
			at := y*side + x
			if x+1 < side {
				edge(at, at+1)
			}
			if y+1 < side {
				edge(at, at+side)
			}
			if x+1 < side && y+1 < side && (x+y)%2 == 0 {
				edge(at, at+side+1)
			}
		}
	}
	return all
}

func gridEdges(side int) int { return 2*side*(side-1) + gridTriangles(side)/2 }

// gridTriangles is how many triangles a grid of so many vertices a side has.
func gridTriangles(side int) int { return 2 * (((side-1)*(side-1) + 1) / 2) }

// Star is the edges from vertex 0 to all others, at most m.
func Star(n, m int) []Edge {
	var all []Edge
	for v := 1; v < n && v <= m; v++ {
		all = append(all, Edge{0, uint32(v)})
	}
	return all
}

// Clique is all edges between the first k of n vertices, as many as m edges allow. It has
// k (k-1) (k-2) / 6 triangles.
func Clique(n, m int) []Edge {
	k := 0
	for k < n && (k+1)*k/2 <= m {
		k++
	}
	all := make([]Edge, 0, k*(k-1)/2)
	for u := range k {
		for v := range u {
			all = append(all, Edge{uint32(u), uint32(v)})
		}
	}
	return all
}

// cases bracket warps, words of 32 vertices, draws of 64 edges and parts of 1024 vertices,
// with every data set.
var cases = func() (all []ladder.Case) {
	for _, size := range []ladder.Size{{0, 0}, {1, 1}, {3, 3}, {31, 64}, {33, 65}, {128, 1024}, {1025, 3000}} {
		all = append(all, ladder.Case{Size: size})
	}
	return append(all,
		ladder.Case{Size: ladder.Size{40, 780}, Data: "clique"}, ladder.Case{Size: ladder.Size{1100, 1100}, Data: "star"},
		ladder.Case{Size: ladder.Size{400, 1000}, Data: "grid"}, ladder.Case{Size: ladder.Size{100, 0}},
		ladder.Case{Size: ladder.Size{200, 900}, Start: 1},
		ladder.Case{Size: ladder.Size{1 << 12, 16 << 12}, Long: true},
		ladder.Case{Size: ladder.Size{3000, 2999 * 3000 / 2}, Data: "clique", Long: true, OnGPU: true},
		ladder.Case{Size: ladder.Size{1 << 16, 16 << 16}, OnGPU: true},
		ladder.Case{Size: ladder.Size{1 << 20, 16 << 20}, Long: true, OnGPU: true})
}()
