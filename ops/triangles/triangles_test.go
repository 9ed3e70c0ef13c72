package triangles

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

var scale = flag.Int("scale", 11, "scale of the RMAT graph whose work TestShares and TestWordsOfHubs count")

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

// The reference against a graph worked by hand, and against closed forms.
func TestReference(t *testing.T) {
	house := []Edge{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}, {3, 4}, {4, 3}, {1, 1}}
	for name, c := range map[string]struct {
		n     int
		edges []Edge
		want  uint64
	}{
		"no vertex":       {0, nil, 0},
		"a house":         {6, house, 1},
		"a house, braced": {6, append(house, Edge{0, 2}), 3},
		"a star":          {1000, Star(1000, 1000), 0},
		"a clique of 3":   {5, Clique(5, 5), 1},
		"a clique of 50":  {50, Clique(50, 5000), 50 * 49 * 48 / 6},
		"a grid":          {90, Grid(90, 1000, ladder.NewRandom(1)), uint64(gridTriangles(9))},
		"a grid of 2":     {4, Grid(4, 5, ladder.NewRandom(1)), 2},
		"a grid by rows":  {90, Grid(90, 1000, nil), uint64(gridTriangles(9))},
	} {
		g, err := FromEdges(c.n, c.edges)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Count(); got != c.want {
			t.Errorf("%s: %d triangles, expected %d", name, got, c.want)
		}
		if err := valid(g.Rows, g.Columns); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A random graph against every triple of its vertices.
func TestReferenceOfRMAT(t *testing.T) {
	const n = 64
	edges := RMAT(n, 600, 1)
	var joined [n][n]bool
	for _, e := range edges {
		joined[e[0]][e[1]], joined[e[1]][e[0]] = true, true
	}
	var want uint64
	for u := range n {
		for v := range u {
			for w := range v {
				if joined[u][v] && joined[u][w] && joined[v][w] {
					want++
				}
			}
		}
	}
	if got := orient(n, edges).Count(); got != want || want == 0 {
		t.Errorf("%d triangles, expected %d", got, want)
	}
}

// Vertices are numbered by falling degree, those of one degree by their old number.
func TestOrientation(t *testing.T) {
	g, err := FromEdges(5, []Edge{{4, 2}, {2, 0}, {4, 2}, {0, 0}, {2, 4}, {4, 3}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Number, []uint32{3, 4, 0, 1, 2}) || !slices.Equal(g.Rows, []uint32{0, 0, 1, 3, 4, 4}) || !slices.Equal(g.Columns, []uint32{0, 0, 1, 0}) {
		t.Errorf("%+v", g)
	}
}

// The same seed makes the same graph on any number of cores, and other seeds make others.
func TestSeed(t *testing.T) {
	many := RMAT(1000, 20_000, 7)
	before := runtime.GOMAXPROCS(1)
	one := RMAT(1000, 20_000, 7)
	runtime.GOMAXPROCS(before)
	if !slices.Equal(one, many) {
		t.Error("one core makes other edges than all")
	}
	if slices.Equal(many, RMAT(1000, 20_000, 8)) {
		t.Error("two seeds make the same edges")
	}
}

// Rows that a rung cannot count are refused in one line, with the same words wherever they
// come from, and before anything is launched.
func TestBadRows(t *testing.T) {
	for _, c := range []struct {
		rows, columns []uint32
		want          string
	}{
		{nil, nil, "rows do not start with 0"},
		{[]uint32{1, 1}, []uint32{0}, "rows do not start with 0"},
		{[]uint32{0, 0, 1, 0}, []uint32{0, 0, 0}, "rows[3] = 0 after 1"},
		{[]uint32{0, 0, 1, 4}, []uint32{0, 0, 1}, "rows[3] = 4 of 3 columns"},
		{[]uint32{0, 0, 1, 3}, []uint32{0, 0, 3}, "row 2 has the neighbour 3, out of range"},
		{[]uint32{0, 0, 1, 3}, []uint32{0, 0, 2}, "row 2 has the neighbour 2, a self loop"},
		{[]uint32{0, 1, 1, 3}, []uint32{1, 0, 1}, "row 0 has the neighbour 1, which is larger"},
		{[]uint32{0, 0, 1, 3}, []uint32{0, 1, 1}, "row 2 has the neighbour 1 twice"},
		{[]uint32{0, 0, 1, 3}, []uint32{0, 1, 0}, "row 2 has the neighbour 0 after 1, not sorted"},
	} {
		_, err := Oriented(c.rows, c.columns)
		_, of := Of(&Graph{Rows: c.rows, Columns: c.columns})
		for _, err := range []error{err, of} {
			if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v of %v: %v, expected one line with %q", c.columns, c.rows, err, c.want)
			}
		}
		if len(c.rows) != 4 {
			continue
		}
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			b := optest.NewBench(t, d, empty, 1, 3, 3)
			if err := b.SetInput("columns", c.columns); err != nil {
				t.Fatal(err)
			}
			if got := b.SetInput("rows", c.rows); got == nil || got.Error() != err.Error() {
				t.Errorf("%v of %v: %v, expected %v", c.columns, c.rows, got, err)
			}
		})
	}
	for _, n := range []int{-1, math.MaxInt32 + 1} {
		if _, err := FromEdges(n, nil); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "vertices and 0 edges, expected 0 to 2147483647") {
			t.Errorf("%d vertices: %v, expected a refusal", n, err)
		}
	}
	if _, err := FromEdges(3, []Edge{{0, 1}, {1, 3}}); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "edge 1 is 1-3, out of range") {
		t.Errorf("an edge to a vertex that is not there: %v", err)
	}
	for _, n := range []int{-1, math.MinInt, 1 << 31, math.MaxInt} {
		if _, err := FromEdges(n, nil); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), fmt.Sprint(n, " vertices")) {
			t.Errorf("a graph of %d vertices: %v", n, err)
		}
	}
	if _, err := FromEdges(0, []Edge{{0, 0}}); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "without vertices, expected none") {
		t.Errorf("an edge without vertices: %v", err)
	}
	if _, err := Of(nil); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("no graph: %v", err)
	}
	for _, size := range [][2]int{{-1, 5}, {5, -1}, {0, 5}, {5, 0}} {
		if edges := RMAT(size[0], size[1], 1); len(edges) > 0 {
			t.Errorf("%d vertices and %d edges: %v", size[0], size[1], edges)
		}
	}
}

// A graph that the host's memory does not hold is refused before it is made.
func TestLargerThanMemory(t *testing.T) {
	free, known := gpu.HostFree()
	if !known {
		t.Skip("the host does not tell its free memory")
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, gpu.ErrMemory) || !strings.Contains(err.Error(), "edges of RMAT") {
			t.Errorf("2^50 edges: %v", err)
		}
	}()
	if free < 28*math.MaxInt32 { // else it would be made
		if _, err := FromEdges(math.MaxInt32, nil); !errors.Is(err, gpu.ErrMemory) || strings.Contains(err.Error(), "\n") {
			t.Errorf("2^31 - 1 vertices: %v", err)
		}
	}
	RMAT(1<<20, 1<<50, 1)
}

// empty is the operator on a graph without edges.
var empty = of(&Graph{Rows: make([]uint32, 4)}, 0)

// A graph without vertices has no triangles, also where columns has room for some edges.
func TestNoVertices(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 1, 0, 100)
	optest.CheckAll(t, b, "no vertices")
}

// A graph of the caller's is the first data set of its operator.
func TestOf(t *testing.T) {
	g, err := FromEdges(30, Clique(30, 1000))
	if err != nil {
		t.Fatal(err)
	}
	o, err := Of(g)
	if err != nil {
		t.Fatal(err)
	}
	b := optest.NewBench(t, optest.Emulator(t), o, 1, g.Vertices(), g.Edges())
	optest.CheckAll(t, b, "", "triangles_packed")
	if got := b.Expected()[0].Exact.([]uint64)[0]; got != 30*29*28/6 {
		t.Errorf("%d triangles", got)
	}
}

// countFrom is the count of a rung that starts at before, with blocks of its last step; 0 leaves
// as many as the plan has.
func countFrom(t *testing.T, d gpu.Device, v ladder.Variant, g *Graph, before uint64, blocks int) uint64 {
	t.Helper()
	alloc := func(values any) gpu.Buffer {
		tensor := ladder.Tensor{Len: ladder.Length(values), Type: typeOf(values)}
		buffer, err := d.Alloc(tensor.Type, tensor.Len)
		if err == nil {
			err = buffer.Upload(values)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { buffer.Free() })
		return buffer
	}
	file, err := Operator.PTX(Operator.ModuleOf(v), d.Info())
	if err != nil {
		t.Fatal(err)
	}
	module, err := d.Load(file.Name, file.Text)
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	count := alloc([]uint64{before})
	memory := map[string]gpu.Buffer{"rows": alloc(g.Rows), "columns": alloc(g.Columns), "count": count}
	plan := v.Plan(v.Name, ladder.Size{g.Vertices(), g.Edges()}, d.Info())
	for _, s := range plan.Scratch {
		memory[s.Name] = alloc(s.Make())
	}
	for i, s := range plan.Steps {
		entry, err := module.Entry(s.Entry)
		if err != nil {
			t.Fatal(err)
		}
		if blocks > 0 && i == len(plan.Steps)-1 {
			s.Grid.X = blocks
		}
		launch := gpu.Launch{Entry: entry, Grid: s.Grid, Block: s.Block, Shared: s.Shared}
		for _, a := range s.Args {
			if name, ok := a.(string); ok {
				a = memory[name]
			}
			launch.Args = append(launch.Args, a)
		}
		if err := d.Launch(launch); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]uint64, 1)
	if err := errors.Join(d.Sync(), count.Download(got)); err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// Every rung adds to a count of 64 bits: one that starts just below 2^32 passes it.
func TestCountBeyond32Bits(t *testing.T) {
	g := orient(40, Clique(40, 780))
	const before, triangles = math.MaxUint32 - 100, 40 * 39 * 38 / 6
	d := optest.Emulator(t)
	for _, v := range Operator.Variants {
		if got := countFrom(t, d, v, g, before, 0); got != before+triangles {
			t.Errorf("%s: %d after %d, expected %d", v.Name, got, uint64(before), uint64(before+triangles))
		}
	}
}

// One block has so many units of a graph that its warps draw most of them.
func TestDraws(t *testing.T) {
	g := orient(1<<10, RMAT(1<<10, 1<<14, 1))
	d := optest.Emulator(t)
	for _, name := range []string{"triangles_packed", "triangles_dense"} {
		v, err := Operator.Variant(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := countFrom(t, d, v, g, 0, 1), g.Count(); got != want {
			t.Errorf("%s: %d triangles in one block, expected %d", name, got, want)
		}
	}
}

// Elements of the product just below 2^32 add up beyond it: the sum of a thread has 64 bits.
func TestProductBeyond32Bits(t *testing.T) {
	const n, edges = 2, 700
	product := slices.Repeat([]uint32{math.MaxUint32}, edges)
	d := optest.Emulator(t)
	file, err := Operator.PTX("triangles", d.Info())
	if err != nil {
		t.Fatal(err)
	}
	module, err := d.Load(file.Name, file.Text)
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	entry, err := module.Entry("triangles_masked_product_2")
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for _, values := range []any{[]uint32{0, 0, edges}, product, []uint64{0}} {
		buffer, err := d.Alloc(ladder.Tensor{Type: typeOf(values)}.Elements(), ladder.Length(values))
		if err == nil {
			err = buffer.Upload(values)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer buffer.Free()
		args = append(args, buffer)
	}
	if err := d.Launch(gpu.Launch{Entry: entry, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 256}, Args: append(args, uint32(n), uint32(0))}); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 1)
	if err := errors.Join(d.Sync(), args[2].(gpu.Buffer).Download(got)); err != nil {
		t.Fatal(err)
	}
	if want := uint64(edges) * math.MaxUint32; got[0] != want {
		t.Errorf("%d, expected %d", got[0], want)
	}
}

func typeOf(values any) gpu.Type {
	if _, wide := values.([]uint64); wide {
		return gpu.Uint64
	}
	return gpu.Uint32
}

// Rows longer than a table takes: hash tables of 2048 vertices, and of 256 words, and lists of
// 128 words. The last vertex has a long row, and each vertex of it has one edge, to the one
// before in that row. With room for more columns, more vertices are hubs of triangles_dense.
func TestLongRows(t *testing.T) {
	const k, n = 2100, 300 * 32
	d := optest.Emulator(t)
	for _, c := range []struct {
		name    string
		rung    []string
		row     []uint32 // of the last vertex
		columns int
		room    int // of columns
	}{
		{"vertices", []string{"triangles_hash", "triangles_masked_product", "triangles_dense"}, upTo(k, 1), k, 0},
		{"words", []string{"triangles_packed", "triangles_dense"}, upTo(n, 32), n, 0},
		{"words of hubs", []string{"triangles_dense"}, upTo(n, 32), n, n * n / 64},
		{"a word on both sides of column 32", []string{"triangles_packed", "triangles_dense"}, upTo(70, 1)[1:], 70, 0},
		{"the same of hubs", []string{"triangles_dense"}, upTo(70, 1)[1:], 70, 70 * 70},
		{"a row of 128 edges and one", []string{"triangles_dense"}, upTo(129, 1), 129, 129 * 129},
	} {
		rows, columns := []uint32{0}, []uint32{}
		for v := range c.columns {
			if at := slices.Index(c.row, uint32(v)); at > 0 {
				columns = append(columns, c.row[at-1])
			}
			rows = append(rows, uint32(len(columns)))
		}
		columns = append(columns, c.row...)
		rows = append(rows, uint32(len(columns)))
		g, err := Oriented(rows, columns)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Of(g)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Count(); got != uint64(len(c.row)-1) {
			t.Errorf("%s: %d triangles, expected %d", c.name, got, len(c.row)-1)
		}
		b := optest.NewBench(t, d, o, 1, g.Vertices(), max(g.Edges(), c.room))
		optest.CheckAll(t, b, c.name, c.rung...)
	}
}

// Rows that bracket what a warp of triangles_dense takes at a time, of hubs and of others,
// counted by a closed form.
func TestRowsOfHubs(t *testing.T) {
	clique := func(k uint64) uint64 { return k * (k - 1) * (k - 2) / 6 }
	shifted := [][]uint32{nil} // a clique without vertex 0: no 32 columns of a row are one word
	for u := range 100 {
		shifted = append(shifted, upTo(u+1, 1)[1:])
	}
	var apart [][]uint32 // 500 triangles, most of vertices that are no hubs
	for u := uint32(0); u < 1500; u += 3 {
		apart = append(apart, nil, []uint32{u}, []uint32{u, u + 1})
	}
	var long [][]uint32 // the row of vertex 260 has 260 edges, the last 4 of them 256 behind its start
	for u := range 261 {
		long = append(long, upTo(u, 1))
	}
	long = append(long, []uint32{0, 1})
	d := optest.Emulator(t)
	for name, c := range map[string]struct {
		rows  [][]uint32
		first int
		want  uint64
	}{
		"a clique from vertex 1":   {shifted, 0, clique(100)},
		"triangles apart":          {apart, 0, 500},
		"a clique of 261, and one": {long, 0, clique(261) + 1},
		"its last vertex":          {long, 260, 260*259/2 + 1},
		"the vertex behind":        {long, 261, 1},
	} {
		rows := []uint32{0}
		for _, row := range c.rows {
			rows = append(rows, rows[len(rows)-1]+uint32(len(row)))
		}
		g, err := Oriented(rows, slices.Concat(c.rows...))
		if err != nil {
			t.Fatal(err)
		}
		g.First = c.first
		o, err := Of(g)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Count(); got != c.want {
			t.Errorf("%s: %d triangles, expected %d", name, got, c.want)
		}
		b := optest.NewBench(t, d, o, 1, g.Vertices(), g.Edges())
		optest.CheckAll(t, b, name, "triangles_dense", "triangles_packed")
	}
}

// upTo are the multiples of step below n.
func upTo(n, step int) (all []uint32) {
	for v := 0; v < n; v += step {
		all = append(all, uint32(v))
	}
	return all
}

// The words of row u before v are fewer than those of row v, and most edges go to a hub.
func TestWordsOfHubs(t *testing.T) {
	n := 1 << *scale
	g := orient(n, RMAT(n, 16*n, 1))
	hubs := hubs(ladder.Size{n, 16 * n})
	var ofU, ofV, toHubs uint64
	for u := range n {
		before := uint64(0)
		for i, v := range g.Row(u) {
			if i == 0 || v/32 != g.Row(u)[i-1]/32 {
				before++
			}
			ofU += before
			ofV += uint64(words32(g.Row(int(v))))
			if int(v) < hubs {
				toHubs++
			}
		}
	}
	share := float64(toHubs) / float64(g.Edges())
	t.Logf("RMAT %d: %d edges, %d words of rows u up to v, %d of rows v; %d hubs have %d words of bits and %.1f %% of the edges", *scale, g.Edges(), ofU, ofV, hubs, bitsBefore(hubs), 100*share)
	if ofU >= ofV || share < 0.9 {
		t.Errorf("RMAT %d: %d words of rows u, %d of rows v, %.2f of the edges to hubs: expected fewer words of rows u, and 0.9", *scale, ofU, ofV, share)
	}
}

// A first vertex beyond the graph leaves nothing to count.
func TestFirst(t *testing.T) {
	o, err := Operator.Set("first", 100)
	if err != nil {
		t.Fatal(err)
	}
	b := optest.NewBench(t, optest.Emulator(t), o, 1, 64, 300)
	optest.CheckAll(t, b, "")
	if got := b.Expected()[0].Exact.([]uint64)[0]; got != 0 {
		t.Errorf("%d triangles", got)
	}
	for _, v := range []float64{-1, 0.5, math.NaN(), 1 << 40} {
		if _, err := Operator.Set("first", v); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("first = %v: %v", v, err)
		}
	}
	if _, err := Of(&Graph{Rows: []uint32{0, 0}, First: 2}); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("first of a graph: %v", err)
	}
}
