package sparse_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/sparse"
)

// A matrix of three entries times a vector.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	a, err := sparse.Upload(dev, sparse.CSR{Rows: 2, Columns: 3, Offsets: []int32{0, 2, 3}, Index: []int32{0, 2, 1}, Values: []float32{1, 2, 3}})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	x, y := gpu.MustUpload(dev, []float32{1, 10, 100}), gpu.MustUpload(dev, make([]float32, 2))
	if err := a.Times(h, x, y); err != nil {
		panic(err)
	}
	got := make([]float32, 2)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [201 30]
}

// Entries with their rows become a matrix, which is squared; the rows of the result.
func ExampleMatrix_TimesSparse() {
	dev := device.MustOpen("emu")
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	row, columns, values := gpu.MustUpload(dev, []int32{0, 0, 2}), gpu.MustUpload(dev, []int32{1, 2, 0}), gpu.MustUpload(dev, []float32{2, 3, 5})
	a, err := sparse.OfCOO(h, 3, 3, row, columns, values)
	if err != nil {
		panic(err)
	}
	defer a.Close()
	c, err := a.TimesSparse(h, a)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	m, err := c.Download()
	if err != nil {
		panic(err)
	}
	rows, of := gpu.MustUpload(dev, make([]int32, c.NNZ)), make([]int32, c.NNZ)
	if err := c.ToCOO(h, rows); err != nil {
		panic(err)
	}
	if err := rows.Download(of); err != nil {
		panic(err)
	}
	fmt.Println(of, m.Index, m.Values)
	// Output:
	// [0 2 2] [0 1 2] [15 10 15]
}
