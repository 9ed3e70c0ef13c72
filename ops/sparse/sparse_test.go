package sparse

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

func TestConformance(t *testing.T)        { optest.Run(t, SpMV) }
func TestConformanceWide(t *testing.T)    { optest.Run(t, SpMVWide) }
func TestConformanceCOO(t *testing.T)     { optest.Run(t, SpMVCOO) }
func TestConformanceSpGEMM(t *testing.T)  { optest.Run(t, SpGEMM) }
func TestConformanceSpMM(t *testing.T)    { optest.Run(t, SpMM) }
func TestConformanceToCOO(t *testing.T)   { optest.Run(t, ToCOO) }
func TestConformanceFromCOO(t *testing.T) { optest.Run(t, FromCOO) }

var nan = float32(math.NaN())

// byHand has an empty row, columns in no order, an equal pair, and a stored 0.
var byHand = CSR{Rows: 4, Columns: 3,
	Offsets: []int32{0, 2, 2, 5, 6},
	Index:   []int32{2, 0, 1, 1, 0, 2},
	Values:  []float32{3, 1, 5, 0.5, -1, 0},
}

// Answers worked by hand: a NaN of x reaches the rows that have its column, as a stored 0
// too, and no others.
func TestReference(t *testing.T) {
	size := ladder.Size{4, 3, 6}
	for _, c := range []struct{ x, want []float32 }{
		{[]float32{10, 100, 1000}, []float32{3010, 0, 540, 0}},
		{[]float32{10, 100, nan}, []float32{nan, 0, 540, nan}},
		{[]float32{1, nan, 1}, []float32{4, 0, nan, 0}},
	} {
		want := make([]float64, 4)
		for i, v := range c.want {
			want[i] = float64(v)
		}
		got := SpMV.Reference(nil, size, []ladder.Values{byHand.Offsets, byHand.Index, byHand.Values, c.x})[0]
		if !ladder.SameBits(got.Value, want) || !slices.Equal(got.Terms, []int32{2, 0, 3, 1}) {
			t.Errorf("A %v = %v of %v terms, expected %v", c.x, got.Value, got.Terms, want)
		}
		triples := []ladder.Values{byHand.rowOfEach(nil), byHand.Index, byHand.Values, c.x}
		if got := SpMVCOO.Reference(nil, size, triples)[0]; !ladder.SameBits(got.Value, want) {
			t.Errorf("in COO %v, expected %v", got.Value, want)
		}
	}
}

// Every data set is a matrix with the entries that were asked for, also where rows or
// columns are few, and has what its name says.
func TestMatrices(t *testing.T) {
	for _, d := range matrices {
		for _, s := range []ladder.Size{{0, 0, 0}, {3, 5, 0}, {1, 1, 1}, {1, 1, 50}, {2, 3, 100}, {1000, 3, 999}, {100, 5000, 3001}} {
			m, err := New(d.name, s[0], s[1], s[2], 7)
			if err == nil {
				err = m.Check()
			}
			if err != nil || len(m.Index) != s[2] {
				t.Errorf("%s of %v: %v, %d entries", d.name, s, err, len(m.Index))
			}
			inOrder := true
			for r := range m.Rows {
				inOrder = inOrder && slices.IsSorted(m.Index[m.Offsets[r]:m.Offsets[r+1]])
			}
			if !inOrder && !slices.Contains([]string{"unsorted", "banded", "blocks"}, d.name) {
				t.Errorf("%s of %v: a row is not sorted", d.name, s)
			}
		}
	}
	longest := map[string]int32{}
	for _, d := range matrices {
		m, err := New(d.name, 1024, 1024, 16_384, 7)
		if err != nil {
			t.Fatal(err)
		}
		empty := 0
		for r := range m.Rows {
			n := m.Offsets[r+1] - m.Offsets[r]
			longest[d.name] = max(longest[d.name], n)
			if n == 0 {
				empty++
			}
			if d.name == "banded" && m.Index[m.Offsets[r+1]-1]-m.Index[m.Offsets[r]] != 15 {
				t.Fatalf("row %d of banded is from %d to %d", r, m.Index[m.Offsets[r]], m.Index[m.Offsets[r+1]-1])
			}
		}
		if d.name == "huge rows" && (empty < 500 || longest[d.name] < 8192) {
			t.Errorf("huge rows: %d rows are empty, the longest has %d", empty, longest[d.name])
		}
	}
	if longest["banded"] != 16 || longest["rmat"] < 5*longest["random"] {
		t.Errorf("longest rows %v, expected 16 for banded, and those of rmat 5 times those of random", longest)
	}
}

// Matrices that cannot be are refused in one line, the same on every device, before
// anything is launched: on the host, as buffers, and by a handle and a bench.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(m *CSR)
		says   string
	}{
		{func(m *CSR) { m.Index[3] = 3 }, "columns[3] = 3: invalid argument, expected 0 to 2"},
		{func(m *CSR) { m.Index[5] = -1 }, "columns[5] = -1: invalid argument, expected 0 to 2"},
		{func(m *CSR) { m.Offsets[2] = 1 }, "offsets[2] = 1: invalid argument, expected 2 or more: offsets begin with 0 and never fall"},
		{func(m *CSR) { m.Offsets[0] = 1 }, "offsets[0] = 1: invalid argument, expected 0: offsets begin with 0 and never fall"},
		{func(m *CSR) { m.Offsets[4] = 5 }, "offsets[4] = 5: invalid argument, expected 6: the last offset is the number of entries"},
		{func(m *CSR) { m.Offsets[4] = math.MaxInt32 }, "offsets[4] = 2147483647: invalid argument, expected 6"},
	} {
		bad := CSR{4, 3, slices.Clone(byHand.Offsets), slices.Clone(byHand.Index), slices.Clone(byHand.Values)}
		c.change(&bad)
		check := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, expected one line with %q", what, err, c.says)
			}
		}
		check("Check", bad.Check())
		devicetest.Each(t, func(t *testing.T, d gpu.Device) {
			_, err := Upload(d, bad)
			check("Upload", err)
			buffers := map[string]gpu.Buffer{"x": words(t, d, []float32{1, 2, 3}), "y": words(t, d, make([]float32, 4)),
				"offsets": words(t, d, bad.Offsets), "columns": words(t, d, bad.Index), "values": words(t, d, bad.Values)}
			_, err = OfBuffers(3, buffers["offsets"], buffers["columns"], buffers["values"])
			check("OfBuffers", err)
			h := run.NewHandle(d)
			defer h.Close()
			check("Handle.Run", h.Run(SpMV, ladder.Size{4, 3, 6}, buffers))
			b := optest.NewBench(t, d, SpMV, 1, 4, 3, 6)
			name, values := "columns", any(bad.Index)
			if slices.Equal(bad.Index, byHand.Index) {
				name, values = "offsets", bad.Offsets
			}
			check("SetInput", b.SetInput(name, values))
			optest.CheckAll(t, b, "after a refused input")
		})
	}
	for _, s := range []ladder.Size{{0, 5, 1}, {5, 0, 1}, {5, 5, most + 1}} {
		if _, err := New("random", s[0], s[1], s[2], 1); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "nnz = ") {
			t.Errorf("%v: %v, expected an argument error that names nnz", s, err)
		}
	}
	if free, known := gpu.HostFree(); known && free < 8*most { // else it would be made
		if _, err := New("random", 9, 9, most, 1); !errors.Is(err, gpu.ErrMemory) || !strings.Contains(err.Error(), "take a smaller one") {
			t.Errorf("2^31 entries: %v", err)
		}
	}
	if _, err := New("no such data", 1, 1, 1, 1); !errors.Is(err, gpu.ErrNotFound) {
		t.Errorf("unknown data set: %v", err)
	}
	none := CSR{Rows: 1, Columns: 0, Offsets: []int32{0, 1}, Index: []int32{0}, Values: []float32{1}}
	if err := none.Check(); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "columns[0] = 0: invalid argument, expected no entries") {
		t.Errorf("an entry of a matrix without columns: %v", err)
	}
	if err := (CSR{Rows: 1, Columns: 1, Offsets: []int32{0}}).Check(); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("one offset for one row: %v", err)
	}
}

// Buffers of another type, and a matrix that was freed or never made, are refused in one line.
func TestMatrixRefuses(t *testing.T) {
	d := optest.Emulator(t)
	h := run.NewHandle(d)
	defer h.Close()
	a, err := Upload(d, byHand)
	if err != nil {
		t.Fatal(err)
	}
	floats, ints := words(t, d, []float32{1, 2}), words(t, d, []int32{0, 1})
	of := func(offsets, index, values gpu.Buffer) error {
		_, err := OfBuffers(2, offsets, index, values)
		return err
	}
	x, y := words(t, d, []float32{1, 2, 3}), words(t, d, make([]float32, 4))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, freed := a.Download()
	_, never := (&Matrix{}).Download()
	for _, c := range []struct {
		err  error
		kind error
		says string
	}{
		{of(nil, ints, floats), gpu.ErrArgument, "offsets: invalid argument: no buffer, expected one of int32 or uint64"},
		{of(floats, ints, floats), gpu.ErrArgument, "offsets: invalid argument: a buffer of float32, expected int32 or uint64"},
		{of(ints, floats, floats), gpu.ErrArgument, "columns: invalid argument: a buffer of float32, expected int32"},
		{of(ints, ints, ints), gpu.ErrArgument, "values: invalid argument: a buffer of int32, expected float32"},
		{a.Times(h, x, y), gpu.ErrClosed, "offsets was freed"},
		{freed, gpu.ErrClosed, "offsets was freed"},
		{a.Close(), gpu.ErrClosed, "offsets was freed"},
		{(&Matrix{}).Times(h, x, y), gpu.ErrArgument, "offsets: invalid argument: no buffer"},
		{never, gpu.ErrArgument, "the matrix has no buffers"},
	} {
		if !errors.Is(c.err, c.kind) || strings.Contains(c.err.Error(), "\n") || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, expected one line with %q", c.err, c.says)
		}
	}
}

// words is a buffer with values.
func words(t *testing.T, d gpu.Device, values any) gpu.Buffer {
	t.Helper()
	kind := map[bool]gpu.Type{true: gpu.Float32, false: gpu.Int32}
	_, floats := values.([]float32)
	b, err := d.Alloc(kind[floats], ladder.Length(values))
	if err == nil {
		t.Cleanup(func() { b.Free() })
		err = b.Upload(values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A product that is subnormal has fewer bits than the bound of one term asks for, and
// passes; one that is wrong by more than that fails.
func TestSubnormalProducts(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), SpMV, 1, 1, 1, 1)
	for name, v := range map[string]float32{"values": 0x1p-140, "x": 0.3} {
		if err := b.SetInput(name, []float32{v}); err != nil {
			t.Fatal(err)
		}
	}
	optest.CheckAll(t, b, "subnormal")
	want := ladder.Expected{Value: []float64{1}, Magnitude: []float64{1}, Terms: []int32{1}}
	if c := sumOfTerms.Compare(nil, []float32{1 + 0x1p-23}, want, ladder.Plan{Depth: 9}); !slices.Equal(c.Failed, []string{ladder.CheckBound}) {
		t.Errorf("a number beyond the bound of one term: failed %v", c.Failed)
	}
}

// A matrix on a device multiplies by every rung, and comes back as it was.
func TestTimes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		a, err := Upload(d, byHand)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		h := run.NewHandle(d)
		defer h.Close()
		x, y := words(t, d, []float32{10, 100, nan}), words(t, d, []float32{nan, nan, nan, nan})
		for _, v := range SpMV.Variants {
			h.Variant = v.Name
			got := make([]float32, 4)
			if err := errors.Join(a.Times(h, x, y), y.Download(got)); errors.Is(err, gpu.ErrUnsupported) {
				t.Logf("%s is not run here: %v", v.Name, err)
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if want := []float32{nan, 0, 540, nan}; !ladder.SameBits(got, want) {
				t.Errorf("%s: %v, expected %v", v.Name, got, want)
			}
		}
		if err := a.Times(h, y, y); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "expected 3 for rows = 4") {
			t.Errorf("x of 4 elements: %v", err)
		}
		again, err := OfBuffers(3, a.Offsets, a.Index, a.Values)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := again.Download(); err != nil || !slices.Equal(m.Index, byHand.Index) || !slices.Equal(m.Offsets, byHand.Offsets) || !slices.Equal(m.Values, byHand.Values) {
			t.Errorf("downloaded %v, %v", m, err)
		}
	})
}

// A row of more products than a table takes goes by windows of 4096 columns: four entries
// meet rows of 1500 columns, 0, 3, 6 and so on, the same in each, and the last column of
// all. There is room for 1000 of the 1500 columns.
func TestWindows(t *testing.T) {
	const n, each = 4600, 1500
	a := CSR{n, n, make([]int32, n+1), make([]int32, 4*each), make([]float32, 4*each)}
	b := CSR{n, n, make([]int32, n+1), make([]int32, 4*each), make([]float32, 4*each)}
	for r := range n + 1 {
		a.Offsets[r], b.Offsets[r] = int32(4*min(max(r-7, 0), 1)), int32(each*min(r, 4))
	}
	a.Offsets[n] = 4 * each // the last row meets rows of B without entries
	for i := range 4 * each {
		a.Index[i], a.Values[i] = int32(i), 1
		b.Index[i], b.Values[i] = int32(3*(i%each)), float32(i/each+1)
		if i%each == each-1 {
			b.Index[i] = n - 1
		}
	}
	for i := range each * 4 {
		if i >= 4 {
			a.Index[i] = 4
		}
	}
	bench := optest.NewBench(t, optest.Emulator(t), SpGEMM, 1, n, 4*each, 1000)
	for name, values := range map[string]any{"a_values": a.Values, "b_values": b.Values, "b_columns": b.Index, "b_offsets": b.Offsets, "a_columns": a.Index, "a_offsets": a.Offsets} {
		if err := bench.SetInput(name, values); err != nil {
			t.Fatal(err)
		}
	}
	e := bench.Expected()
	if columns := e[1].Exact.([]int32); len(columns) != each || columns[each-2] != 3*(each-2) || columns[each-1] != n-1 || e[2].Value[0] != 10 || e[2].Terms[5] != 4 {
		t.Fatalf("the reference has %d columns, the first sum is %v", len(columns), e[2].Value[0])
	}
	optest.CheckAll(t, bench, "windows", "spgemm_sort", "spgemm_binned", "spgemm_bitmap")
}

// Rows whose products fill a table of a warp (384) or a block (3072) to three quarters, one
// fewer and one more. All columns are different.
func TestFullTables(t *testing.T) {
	const n = 3200
	for _, products := range []int{384, 385, 3071, 3072, 3073} {
		a := CSR{n, n, make([]int32, n+1), make([]int32, products), make([]float32, products)}
		b := CSR{n, n, make([]int32, n+1), make([]int32, products), make([]float32, products)}
		for r := range n + 1 {
			a.Offsets[r], b.Offsets[r] = int32(4*min(max(r-7, 0), 1)), int32(products*min(r, 4)/4)
		}
		a.Offsets[n] = int32(products) // the last row meets a row of B without entries
		for i := range products {
			a.Index[i], a.Values[i] = int32(min(i, 4)), 1
			b.Index[i], b.Values[i] = int32(i), float32(i%7+1)
		}
		bench := optest.NewBench(t, optest.Emulator(t), SpGEMM, 1, n, products, products)
		for name, values := range map[string]any{"a_values": a.Values, "b_values": b.Values, "b_columns": b.Index, "b_offsets": b.Offsets, "a_columns": a.Index, "a_offsets": a.Offsets} {
			if err := bench.SetInput(name, values); err != nil {
				t.Fatal(err)
			}
		}
		if columns := bench.Expected()[1].Exact.([]int32); len(columns) != products || columns[products-1] != int32(products-1) {
			t.Fatalf("the reference has %d columns, expected %d", len(columns), products)
		}
		optest.CheckAll(t, bench, fmt.Sprintf("%d products", products), "spgemm_shared_hash", "spgemm_binned")
	}
}

// A product of 2 x 2 matrices worked by hand: equal columns add up, a sum of 0 stays an
// entry, and a stored 0 times NaN is NaN.
func TestProductByHand(t *testing.T) {
	a := CSR{2, 2, []int32{0, 2, 3}, []int32{1, 0, 0}, []float32{2, 1, 0}}
	b := CSR{2, 2, []int32{0, 2, 3}, []int32{1, 0, 1}, []float32{-2, nan, 1}}
	offsets, columns, e := multiply(nil, a, b)
	if !slices.Equal(offsets, []int32{0, 2, 4}) || !slices.Equal(columns, []int32{0, 1, 0, 1}) || !ladder.SameBits(e.Value, []float64{math.NaN(), 0, math.NaN(), 0}) || !slices.Equal(e.Terms, []int32{1, 2, 1, 1}) || e.Magnitude[1] != 4 {
		t.Errorf("offsets %v, columns %v, values %v of %v terms", offsets, columns, e.Value, e.Terms)
	}
	if a.Products(b) != 5 {
		t.Errorf("%d products, expected 5", a.Products(b))
	}
}

// Triples in another order than that of their rows are refused where offsets are made of
// them.
func TestUnsortedTriplesRefused(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		b := optest.NewBench(t, d, FromCOO, 1, 3, 4)
		for _, c := range []struct {
			row  []int32
			says string
		}{
			{[]int32{0, 2, 1, 2}, "ops: coo_to_csr: row[2] = 1: invalid argument, expected 2 or more: sort the triples by row first"},
			{[]int32{0, 1, 2, 3}, "ops: coo_to_csr: row[3] = 3: invalid argument, expected 0 to 2"},
		} {
			if err := b.SetInput("row", c.row); err == nil || err.Error() != c.says {
				t.Errorf("%v: %v, expected %s", c.row, err, c.says)
			}
		}
	})
}

// A matrix of buffers with offsets of 64 bits is checked, and takes the 64-bit path: an offset
// beyond 32 bits is seen as it is.
func TestWideMatrix(t *testing.T) {
	d := optest.Emulator(t)
	buffer := func(typ gpu.Type, values any, n int) gpu.Buffer {
		t.Helper()
		b, err := d.Alloc(typ, n)
		if err == nil {
			err = b.Upload(values)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	offsets := buffer(gpu.Uint64, []uint64{0, 2, 2, 5, 6}, 5)
	index, values := buffer(gpu.Int32, byHand.Index, 6), buffer(gpu.Float32, byHand.Values, 6)
	a, err := OfBuffers(3, offsets, index, values)
	if err != nil {
		t.Fatal(err)
	}
	h := run.NewHandle(d)
	defer h.Close()
	for _, variant := range []string{"", "spmv_wide_warp_row"} {
		h.Variant = variant
		x, y := buffer(gpu.Float32, []float32{10, 100, 1000}, 3), buffer(gpu.Float32, []float32{nan, nan, nan, nan}, 4)
		got := make([]float32, 4)
		if err := a.Times(h, x, y); err != nil || y.Download(got) != nil || !slices.Equal(got, []float32{3010, 0, 540, 0}) {
			t.Errorf("%q: %v, %v, expected the answer worked by hand", variant, got, err)
		}
	}
	if _, err := a.Download(); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("download: %v", err)
	}
	for _, c := range []struct {
		offsets []uint64
		says    string
	}{
		{[]uint64{0, 2, 1 << 32, 5, 6}, "offsets[3] = 5: invalid argument, expected 4294967296 or more"},
		{[]uint64{0, 2, 2, 5, 1<<32 + 6}, "offsets[4] = 4294967302: invalid argument, expected 6"}, // 6 in 32 bits
		{[]uint64{1 << 32, 2, 2, 5, 6}, "offsets[0] = 4294967296: invalid argument, expected 0"},   // 0 in 32 bits
	} {
		if err := offsets.Upload(c.offsets); err != nil {
			t.Fatal(err)
		}
		if _, err := OfBuffers(3, offsets, index, values); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, expected %q", c.offsets, err, c.says)
		}
	}
	if err := SpMVWide.CheckSize(ladder.Size{1 << 30, 1 << 30, 1 << 33}); err != nil {
		t.Errorf("2^33 entries: %v", err)
	}
	if err := SpMVWide.CheckSize(ladder.Size{1 << 31, 1, 1}); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("2^31 rows: %v", err)
	}
}
