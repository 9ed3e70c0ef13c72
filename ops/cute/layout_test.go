package cute

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The examples of NVIDIA's documentation, "CuTe Layout Algebra".
func TestPublished(t *testing.T) {
	complement := func(n int) func(Layout, ...Layout) (Layout, error) {
		return func(a Layout, _ ...Layout) (Layout, error) { return a.Complement(n) }
	}
	two := func(f func(a, b Layout) (Layout, error)) func(Layout, ...Layout) (Layout, error) {
		return func(a Layout, b ...Layout) (Layout, error) { return f(a, b[0]) }
	}
	coalesce := func(a Layout, _ ...Layout) (Layout, error) { return a.Coalesce(), nil }
	parts := func(a Layout, _ ...Layout) (Layout, error) { return a.CoalesceParts(), nil }
	for _, c := range []struct {
		name string
		f    func(Layout, ...Layout) (Layout, error)
		in   string
		want string
	}{
		{"coalesce", coalesce, "(2,(1,6)):(1,(6,2))", "12:1"},
		{"coalesce by part", parts, "(2,(1,6)):(1,(6,2))", "(2,6):(1,2)"},
		{"compose", two(Compose), "(6,2):(8,2) (4,3):(3,1)", "((2,2),3):((24,2),8)"},
		{"compose", two(Compose), "20:2 (5,4):(4,1)", "(5,4):(8,2)"},
		{"compose", two(Compose), "(10,2):(16,4) (5,4):(1,5)", "(5,(2,2)):(16,(80,4))"},
		{"complement", complement(24), "4:1", "6:4"},
		{"complement", complement(24), "6:4", "4:1"},
		{"complement", complement(24), "(4,6):(1,4)", "1:0"},
		{"complement", complement(24), "4:2", "(2,3):(1,8)"},
		{"complement", complement(24), "(2,4):(1,6)", "3:2"},
		{"complement", complement(24), "(2,2):(1,6)", "(3,2):(2,12)"},
		{"divide", two(Divide), "(4,2,3):(2,1,8) 4:2", "((2,2),(2,3)):((4,1),(2,8))"},
		{"divide by part", DivideParts, "(9,(4,8)):(59,(13,1)) 3:3 (2,4):(1,8)", "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
		{"zip", Zip, "(9,(4,8)):(59,(13,1)) 3:3 (2,4):(1,8)", "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"},
		{"product", two(Product), "(2,2):(4,1) 6:1", "((2,2),(2,3)):((4,1),(2,8))"},
		{"product", two(Product), "(2,2):(4,1) (4,2):(2,1)", "((2,2),(4,2)):((4,1),(8,2))"},
	} {
		var in []Layout
		for _, text := range strings.Fields(c.in) {
			in = append(in, Must(text))
		}
		got, err := c.f(in[0], in[1:]...)
		if err != nil || got.String() != c.want {
			t.Errorf("%s of %s: %v %v, expected %s", c.name, c.in, got, err, c.want)
		}
	}
}

func TestOffsets(t *testing.T) {
	l := Must("(4,(2,2)):(2,(1,8))") // the documentation's ((2,2)) columns in 4 rows
	var got []int
	for i := range l.Size() {
		got = append(got, l.At(i))
	}
	if want := []int{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}; !slices.Equal(got, want) || l.Size() != 16 || l.Cosize() != 16 {
		t.Errorf("%v, expected %v", got, want)
	}
	if c := Must("(2,(3,4))"); c.String() != "(2,(3,4)):(1,(2,6))" {
		t.Errorf("without strides: %v", c)
	}
}

// random is a layout of up to four modes.
func random(r *rand.Rand) Layout {
	var modes []mode
	for range 1 + r.IntN(4) {
		modes = append(modes, mode{1 + r.IntN(6), r.IntN(13)})
	}
	return layoutOf(modes)
}

// The documented properties of the operations, on random layouts.
func TestProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	composed, divided, complemented := 0, 0, 0
	for range 5000 {
		a, b := random(r), random(r)
		c := a.Coalesce()
		if c.Size() != a.Size() {
			t.Fatalf("coalesce %v: %v has another size", a, c)
		}
		for i := range a.Size() {
			if c.At(i) != a.At(i) {
				t.Fatalf("coalesce %v: %v at %d", a, c, i)
			}
		}
		// The coordinates of b must be coordinates of a: beyond the end the last mode goes
		// on, which is another mode after coalescing.
		if ab, err := Compose(a, b); err == nil && b.Cosize() <= a.Size() {
			composed++
			for i := range b.Size() {
				if ab.At(i) != a.At(b.At(i)) {
					t.Fatalf("compose %v with %v: %v at %d is %d, expected %d", a, b, ab, i, ab.At(i), a.At(b.At(i)))
				}
			}
		}
		n := 1 + r.IntN(200)
		if rest, err := a.Complement(n); err == nil && injective(a) {
			complemented++
			if all := Join(a, rest); !injective(all) || all.Size() < n {
				t.Fatalf("complement of %v in %d: %v", a, n, rest)
			}
		}
		if d, err := Divide(a, b); err == nil && injective(b) && d.Size() == a.Size() && b.Cosize() <= a.Size() {
			if rest, err := b.Complement(a.Size()); err != nil || Join(b, rest).Cosize() != a.Size() {
				continue // the tile does not fit
			}
			divided++
			if !slices.Equal(offsets(d), offsets(a)) {
				t.Fatalf("divide %v by %v: %v has other offsets", a, b, d)
			}
		}
	}
	t.Logf("%d compositions, %d complements, %d divisions", composed, complemented, divided)
	if composed == 0 || complemented == 0 { // of 5000 each, more than 100 in any run seen
		t.Errorf("%d compositions, %d complements", composed, complemented)
	}
}

func offsets(l Layout) (all []int) {
	for i := range l.Size() {
		all = append(all, l.At(i))
	}
	slices.Sort(all)
	return all
}

func injective(l Layout) bool {
	all := offsets(l)
	return len(slices.Compact(all)) == l.Size()
}

// The threads of note 003, 4 x 8 of them over a tile: every element has one thread.
func TestPartition(t *testing.T) {
	data, threads := Must("(8,16):(16,1)"), Must("(4,8):(8,1)")
	owner := map[int]int{}
	for thread := range 32 {
		part, offset, err := Partition(data, threads, thread)
		if err != nil || part.Size() != 4 {
			t.Fatalf("thread %d: %v %v", thread, part, err)
		}
		for i := range part.Size() {
			owner[offset+part.At(i)] = thread
		}
	}
	for row := range 8 {
		for column := range 16 {
			if got, want := owner[row*16+column], row%4*8+column%8; got != want {
				t.Errorf("element (%d, %d) is of thread %d, expected %d", row, column, got, want)
			}
		}
	}
	if _, _, err := Partition(data, threads, 32); err == nil {
		t.Error("thread 32 of 32 has a part")
	}
	if _, _, err := Partition(data, Must("8:1"), 0); err == nil {
		t.Error("threads of another rank have parts")
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "expected a number",
		"(4,2":                      "expected , or )",
		"(4,2):(1)":                 "not alike",
		"(4,2):1":                   "not alike",
		"(4,0):(1,2)":               "no 0",
		"4:1 x":                     "expected the end",
		"4x":                        "expected :",
		"99999999999999:1":          "up to 2^31",
		"(65536,65536):(1,1)":       "at most 2^31",
		strings.Repeat("(", 100000): "nested",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, expected %s", text, err, want)
		}
	}
	for _, f := range []func() error{
		func() error { _, err := Compose(Must("(6,2):(1,7)"), Must("3:4")); return err },
		func() error { _, err := Compose(Must("(4,4):(1,100)"), Must("(3,3):(1,3)")); return err },
		func() error { _, err := Must("(4,4):(1,2)").Complement(16); return err },
		func() error { _, err := DivideParts(Must("(4,4)"), Must("2:1")); return err },
		func() error { _, err := Must("(2,2,2)").Draw("x"); return err },
		func() error { _, err := Must("(2,65)").Draw("x"); return err },
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), "cute: ") {
			t.Errorf("%v, expected an error", err)
		}
	}
}

func TestPicture(t *testing.T) {
	p, err := Must("(2,3):(3,1)").Draw("rows")
	if err != nil {
		t.Fatal(err)
	}
	_, _, text, level := p.Color(func(o int) int { return o % 2 }, "odd").Label(func(o int) int { return 10 * o }).Cells()
	if got := strings.Join(text[1], " "); got != "30 40 50" || level[0][1] != 1 || level[0][0] != 0 {
		t.Errorf("%v %v", text, level)
	}
}

// NVIDIA's pycute computes the same functions. Where a composition is no layout it may
// return one of fewer coordinates, and Compose an error. testdata/make.py made the file.
func TestPycute(t *testing.T) {
	text, err := os.ReadFile("testdata/pycute.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][4]string
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	same, refused := map[string]int{}, map[string]int{}
	for _, c := range cases {
		a, b, want := Must(c[1]), Must(c[2]), Must(c[3])
		var got Layout
		var err error
		switch c[0] {
		case "coalesce":
			got = a.Coalesce()
		case "complement":
			got, err = a.Complement(b.Size())
		case "compose":
			got, err = Compose(a, b)
		case "divide":
			got, err = Divide(a, b)
		case "product":
			got, err = Product(a, b)
		}
		if size := map[string]int{"compose": b.Size(), "product": a.Size() * b.Size()}[c[0]]; err != nil && size > 0 && want.Size() < size {
			refused[c[0]]++ // pycute has dropped coordinates
			continue
		}
		if err != nil || got.Size() != want.Size() {
			t.Errorf("%s of %s and %s: %v %v, expected %s", c[0], c[1], c[2], got, err, c[3])
			continue
		}
		same[c[0]]++
		for i := range want.Size() {
			if got.At(i) != want.At(i) {
				t.Errorf("%s of %s and %s: %v is %d at %d, expected %d of %s", c[0], c[1], c[2], got, got.At(i), i, want.At(i), c[3])
				break
			}
		}
	}
	t.Log("equal", same, "refused", refused)
	for _, name := range []string{"coalesce", "complement", "compose", "divide", "product"} {
		if same[name] < 30 {
			t.Errorf("%s: %d of pycute's layouts, expected at least 30", name, same[name])
		}
	}
}
