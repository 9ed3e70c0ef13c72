package triangles

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
	for u := from; u < to; u++ {
		for _, v := range g.Row(u) {
			if int(v) < from {
				number[v] = 0
			}
		}
	}
	var external []uint32
	for v := range number {
		if number[v] != unknown {
			number[v] = uint32(len(external))
			external = append(external, uint32(v))
		}
	}
	p := &Graph{Rows: []uint32{0}, Columns: []uint32{}, First: len(external)}
	add := func(u int) {
		for _, v := range g.Row(u) {
			if int(v) >= from {
				p.Columns = append(p.Columns, uint32(len(external))+v-uint32(from))
			} else if i := number[v]; i != unknown {
				p.Columns = append(p.Columns, i)
			}
		}
		p.Rows = append(p.Rows, uint32(len(p.Columns)))
	}
	for _, v := range external {
		add(int(v))
	}
	for u := from; u < to; u++ {
		add(u)
	}
	return p
}

// Bytes are those of rows and columns.
func (g *Graph) Bytes() int { return 4 * (len(g.Rows) + len(g.Columns)) }

// External are the bytes of the rows of external vertices, with their bounds: what
// other parts send to this one.
func (g *Graph) External() int { return 4 * (g.First + int(g.Rows[g.First])) }
