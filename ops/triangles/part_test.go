package triangles

import (
	"slices"
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// The parts of a graph, each with the rows of others that it looks up, have all of its
// triangles: by vertices, edges, lookups and packed words, and more parts than vertices.
func TestParts(t *testing.T) {
	d := optest.Emulator(t)
	for name, g := range map[string]*Graph{
		"rmat": orient(256, RMAT(256, 2000, 3)), "clique": orient(40, Clique(40, 780)), "grid": orient(100, Grid(100, 1000, ladder.NewRandom(2))), "3 vertices": orient(3, Clique(3, 3)),
	} {
		want := g.Count()
		for _, work := range []func(int) uint64{g.One, g.Degree, g.Lookups, g.Packed(), g.Dense()} {
			for _, parts := range []int{1, 2, 5} {
				bounds, sum := g.Cut(parts, work), uint64(0)
				if len(bounds) != parts+1 || bounds[0] != 0 || bounds[parts] != g.Vertices() || !slices.IsSorted(bounds) {
					t.Fatalf("%s: %d parts from %v", name, parts, bounds)
				}
				for i := range parts {
					p := g.Part(bounds[i], bounds[i+1])
					if err := valid(p.Rows, p.Columns); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					sum += p.Count()
				}
				if sum != want {
					t.Errorf("%s in %d parts: %d triangles, expected %d", name, parts, sum, want)
				}
			}
		}
		p := g.Part(g.Vertices()/2, g.Vertices())
		o, err := Of(p)
		if err != nil {
			t.Fatal(err)
		}
		optest.CheckAll(t, optest.NewBench(t, d, o, 1, p.Vertices(), p.Edges()), name)
	}
}

// A cut gives each part an equal share, as far as whole rows allow.
func TestCut(t *testing.T) {
	g := orient(1000, RMAT(1000, 8000, 1))
	var all, largest uint64
	for u := range g.Vertices() {
		all, largest = all+g.Lookups(u), max(largest, g.Lookups(u))
	}
	bounds := g.Cut(4, g.Lookups)
	for i := range 4 {
		var share uint64
		for u := bounds[i]; u < bounds[i+1]; u++ {
			share += g.Lookups(u)
		}
		if share > all/4+largest || share+largest < all/4 {
			t.Errorf("part %d: %d lookups of %d", i, share, all)
		}
	}
}

// Equal shares of Packed are those of triangles_packed in instructions of the emulator,
// packing included; those of wedges and lookups are not.
func TestShares(t *testing.T) {
	n := 1 << *scale
	g := orient(n, RMAT(n, 16*n, 1))
	d := optest.Emulator(t)
	instructions := func(g *Graph) (sum uint64) {
		o, err := Of(g)
		if err != nil {
			t.Fatal(err)
		}
		b := optest.NewBench(t, d, o, 1, g.Vertices(), g.Edges())
		defer b.Close()
		return b.Counted("triangles_packed").WarpInstructions
	}
	whole := instructions(g)
	for _, parts := range []int{2, 4} {
		gains := map[string]float64{}
		for name, work := range map[string]func(int) uint64{"edges": g.Degree, "wedges": g.Wedges, "lookups": g.Lookups, "packed": g.Packed()} {
			bounds, most := g.Cut(parts, work), uint64(0)
			for i := range parts {
				most = max(most, instructions(g.Part(bounds[i], bounds[i+1])))
			}
			gains[name] = float64(whole) / float64(most)
		}
		t.Logf("RMAT %d in %d parts: the whole has %d instructions, over the busiest part by equal shares of edges %.2f, wedges %.2f, lookups %.2f, packed words %.2f",
			*scale, parts, whole, gains["edges"], gains["wedges"], gains["lookups"], gains["packed"])
		if best := gains["packed"]; best <= max(gains["edges"], gains["wedges"], gains["lookups"]) || best < 0.65*float64(parts) {
			t.Errorf("%d parts: %v, expected the most by packed words", parts, gains)
		}
	}
}

// The work of a row of three edges, two of them to hubs; vertex 1030 is none.
func TestDenseWork(t *testing.T) {
	rows := make([]uint32, 1102)
	rows[1101] = 3
	g, err := Oriented(rows, []uint32{5, 6, 1030})
	if err != nil {
		t.Fatal(err)
	}
	work := g.Dense()
	if got, want := work(1100), uint64(12+3*3+2*1+2*1+2); hubs(ladder.Size{1101, 3}) != 8 || got != want {
		t.Errorf("work %d with %d hubs, expected %d with 8", got, hubs(ladder.Size{1101, 3}), want)
	}
	if got := g.Sum(work); got != 27+1100*12 {
		t.Errorf("work of all rows %d, expected %d", got, 27+1100*12)
	}
}

// A part of vertices that a large graph does not have is a panic of the caller, which a cell
// survives, and not one of a goroutine, which ends its program.
func TestPartOutOfRange(t *testing.T) {
	const n = 1 << 15 // several goroutines have a part of it
	g := orient(n, RMAT(n, 2*n, 1))
	defer func() {
		if recover() == nil {
			t.Errorf("no panic, expected one: vertices from 0 to %d of %d", 2*n, n)
		}
	}()
	g.Part(0, 2*n)
}
