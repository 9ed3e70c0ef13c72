package sparse

import (
	"testing"

	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// Rows of 512 products are the longest of a warp, those of 4096 the longest that a block keeps,
// and each goes by windows of columns: 16384, 131072 and 8192 of them, where columns are more.
// The first block has rows of every kind; most other rows are empty. Columns are at random
// places and at the windows' edges, and there is room for some of the entries.
func TestBitmapWindows(t *testing.T) {
	const n, nnz, seed = 131_072 + 9000, 6000, 20261126
	random := ladder.NewRandom(seed)
	t.Logf("seed %d", seed)
	edges := []int32{0, 8191, 8192, 16383, 16384, 16385, 131071, 131072, 139000, n - 1}
	lengths := []int{1, 511, 3584, 0, 17} // of rows of B
	rows := [][]int32{
		{1, 0}, {1, 0, 0}, {1, 2, 0}, {1, 2, 0, 0}, // 512, 513, 4096 and 4097 products
		nil, {3, 3}, make([]int32, 599), {4, 3, 4}, // none, 300 in a column, 34
		make([]int32, 999), // 500 products of more entries than a block has threads
	}
	for _, row := range rows {
		for i := range row {
			if len(row) > 500 && i%2 == 1 {
				row[i] = 3
			}
		}
	}
	a := CSR{n, n, make([]int32, n+1), nil, make([]float32, nnz)}
	b := CSR{n, n, make([]int32, n+1), make([]int32, nnz), make([]float32, nnz)}
	for r := range n {
		if r < len(rows) {
			a.Index = append(a.Index, rows[r]...)
		} else if r == n-1 {
			for len(a.Index) < nnz {
				a.Index = append(a.Index, 3)
			}
		}
		a.Offsets[r+1], b.Offsets[r+1] = int32(len(a.Index)), b.Offsets[r]
		if r < len(lengths) {
			b.Offsets[r+1] += int32(lengths[r])
		}
	}
	b.Offsets[n] = nnz // the last row is in no product
	for i := range nnz {
		a.Values[i], b.Values[i] = random.Float32(), random.Float32()
		if b.Index[i] = int32(random.IntN(n)); i%3 == 1 {
			b.Index[i] = edges[random.IntN(len(edges))]
		}
	}
	bench := optest.NewBench(t, optest.Emulator(t), SpGEMM, 1, n, nnz, 6000)
	for name, values := range map[string]any{"a_values": a.Values, "b_values": b.Values, "b_columns": b.Index, "b_offsets": b.Offsets, "a_columns": a.Index, "a_offsets": a.Offsets} {
		if err := bench.SetInput(name, values); err != nil {
			t.Fatal(err)
		}
	}
	if columns := bench.Expected()[1].Exact.([]int32); len(columns) <= 6000 {
		t.Fatalf("the reference has %d columns, expected more than there is room for", len(columns))
	}
	optest.CheckAll(t, bench, "windows", "spgemm_bitmap")
}
