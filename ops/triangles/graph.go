package triangles

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Graph is an undirected graph, oriented by degree. Vertices are numbered by falling
// degree, those of one degree by their old number. Row u lists the neighbours of u with a
// smaller number, in rising order: the matrix L of the edges, strictly lower triangular, as
// CSR. Every triangle u > v > w is there once, as the edges u-v, u-w and v-w.
//
// A row of a vertex of many neighbours is short: most of them have larger numbers.
type Graph struct {
	Rows    []uint32 // Rows[u] is where row u starts in Columns; the last is their number
	Columns []uint32
	Number  []uint32 // Number[v] is the new number of the old vertex v; nil if it was oriented before
	First   int      // of a part: the rows before are those of external vertices, and are looked up only
}

// Vertices is their number.
func (g *Graph) Vertices() int { return max(0, len(g.Rows)-1) }

// Edges is their number; each is counted once.
func (g *Graph) Edges() int { return len(g.Columns) }

// Row is the neighbours of u with a smaller number.
func (g *Graph) Row(u int) []uint32 { return g.Columns[g.Rows[u]:g.Rows[u+1]] }

// String is a graph's vertices and edges.
func (g *Graph) String() string {
	return fmt.Sprintf("graph of %d vertices and %d edges, oriented by degree", g.Vertices(), g.Edges())
}

// Oriented is the graph of rows that are oriented already. Rows that are not are refused.
func Oriented(rows, columns []uint32) (*Graph, error) {
	if err := valid(rows, columns); err != nil {
		return nil, err
	}
	return &Graph{Rows: rows, Columns: columns[:rows[len(rows)-1]]}, nil
}

// valid refuses rows that are not a strictly lower triangular matrix with rising columns.
// Columns may have room for more edges than there are.
func valid(rows, columns []uint32) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("ops: triangles: %w: "+format, append([]any{gpu.ErrArgument}, args...)...)
	}
	if len(rows) == 0 || rows[0] != 0 {
		return fail("rows do not start with 0, expected a row pointer of each vertex and the number of edges")
	}
	for u := range len(rows) - 1 {
		from, to := rows[u], rows[u+1]
		switch {
		case to < from:
			return fail("rows[%d] = %d after %d, expected row pointers that do not fall", u+1, to, from)
		case int64(to) > int64(len(columns)):
			return fail("rows[%d] = %d of %d columns, expected at most their number", u+1, to, len(columns))
		}
		for i := from; i < to; i++ {
			switch v := columns[i]; {
			case int(v) >= len(rows)-1:
				return fail("row %d has the neighbour %d, out of range: expected vertices from 0 to %d", u, v, len(rows)-2)
			case int(v) == u:
				return fail("row %d has the neighbour %d, a self loop: remove it, triangles.FromEdges does", u, v)
			case int(v) > u:
				return fail("row %d has the neighbour %d, which is larger: orient the graph, triangles.FromEdges does", u, v)
			case i > from && v == columns[i-1]:
				return fail("row %d has the neighbour %d twice: remove duplicates, triangles.FromEdges does", u, v)
			case i > from && v < columns[i-1]:
				return fail("row %d has the neighbour %d after %d, not sorted: expected rising neighbours, triangles.FromEdges sorts them", u, v, columns[i-1])
			}
		}
	}
	return nil
}

// Edge is a pair of vertices.
type Edge [2]uint32

// FromEdges makes an oriented graph of n vertices. It removes self loops, and edges that
// are there more than once in either direction. It refuses an edge to a vertex that is not
// there, and more than 2^31 - 1 vertices or edges.
func FromEdges(n int, edges []Edge) (*Graph, error) {
	if n < 0 || max(n, len(edges)) > math.MaxInt32 {
		return nil, fmt.Errorf("ops: triangles: %w: %d vertices and %d edges, expected 0 to %d of each", gpu.ErrArgument, n, len(edges), math.MaxInt32)
	}
	if n == 0 && len(edges) > 0 {
		return nil, fmt.Errorf("ops: triangles: %w: %d edges of a graph without vertices, expected none", gpu.ErrArgument, len(edges))
	}
	// Seven numbers for each vertex, and three for each edge.
	if err := gpu.CheckHost(28*float64(n) + 12*float64(len(edges))); err != nil {
		return nil, fmt.Errorf("ops: triangles: %d vertices and %d edges: %w: take a smaller graph", n, len(edges), err)
	}
	for i, e := range edges {
		if v := max(e[0], e[1]); int64(v) >= int64(n) {
			return nil, fmt.Errorf("ops: triangles: %w: edge %d is %d-%d, out of range: expected vertices from 0 to %d", gpu.ErrArgument, i, e[0], e[1], n-1)
		}
	}
	return orient(n, edges), nil
}

// orient places edges by counting, after duplicates are gone, and sorts each row. All cores
// take part: the order in which they place edges is chance, that of a sorted row is not.
func orient(n int, edges []Edge) *Graph {
	rows, columns := unique(n, edges)
	degree := make([]uint32, n)
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			atomic.AddUint32(&degree[u], rows[u+1]-rows[u])
			for _, v := range columns[rows[u]:rows[u+1]] {
				atomic.AddUint32(&degree[v], 1)
			}
		}
	})
	number := byDegree(degree)
	each := func(f func(small, large uint32)) {
		parallel(n, func(from, to int) {
			for u := from; u < to; u++ {
				for _, v := range columns[rows[u]:rows[u+1]] {
					a, b := number[u], number[v]
					f(min(a, b), max(a, b))
				}
			}
		})
	}
	g := &Graph{Rows: make([]uint32, n+1), Columns: make([]uint32, len(columns)), Number: number}
	each(func(_, large uint32) { atomic.AddUint32(&g.Rows[large+1], 1) })
	add(g.Rows)
	next := slices.Clone(g.Rows)
	each(func(small, large uint32) { g.Columns[atomic.AddUint32(&next[large], 1)-1] = small })
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			slices.Sort(g.Row(u))
		}
	})
	return g
}

// unique lists for each vertex its neighbours with a larger old number, each once.
func unique(n int, edges []Edge) (rows, columns []uint32) {
	starts := make([]uint32, n+1)
	each := func(f func(small, large uint32)) {
		parallel(len(edges), func(from, to int) {
			for _, e := range edges[from:to] {
				if e[0] != e[1] {
					f(min(e[0], e[1]), max(e[0], e[1]))
				}
			}
		})
	}
	each(func(small, _ uint32) { atomic.AddUint32(&starts[small+1], 1) })
	add(starts)
	all, next := make([]uint32, starts[n]), slices.Clone(starts)
	each(func(small, large uint32) { all[atomic.AddUint32(&next[small], 1)-1] = large })
	rows = make([]uint32, n+1)
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			row := all[starts[u]:starts[u+1]]
			slices.Sort(row)
			rows[u+1] = uint32(len(slices.Compact(row)))
		}
	})
	add(rows)
	columns = make([]uint32, rows[n])
	parallel(n, func(from, to int) {
		for u := from; u < to; u++ {
			copy(columns[rows[u]:rows[u+1]], all[starts[u]:])
		}
	})
	return rows, columns
}

// byDegree numbers vertices by falling degree, those of one degree by their old number.
func byDegree(degree []uint32) (number []uint32) {
	number = make([]uint32, len(degree))
	if len(degree) == 0 {
		return number
	}
	most := slices.Max(degree)
	next := make([]uint32, most+2) // next[most-d] becomes the first number of degree d
	for _, d := range degree {
		next[most-d+1]++
	}
	add(next)
	for v, d := range degree {
		number[v] = next[most-d]
		next[most-d]++
	}
	return number
}

// add makes a prefix sum in place.
func add(x []uint32) {
	for i := 1; i < len(x); i++ {
		x[i] += x[i-1]
	}
}

// part is how many rows or edges a goroutine takes at a time. It is small, because the first
// rows of a graph are not like the last.
const part = 4096

// parallel calls f for parts of n on all cores.
func parallel(n int, f func(from, to int)) { ladder.Stop(nil).ParallelBy(part, n, f) }
