package gemm_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/gemm"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// A product on buffers of one's own, of which the second is a part of the first.
func Example() {
	dev := device.MustOpen("emu")
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, err := dev.Alloc(gpu.Float32, 10)
	if err != nil {
		panic(err)
	}
	if err := x.Upload([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); err != nil {
		panic(err)
	}
	y, err := dev.Alloc(gpu.Float32, 4)
	if err != nil {
		panic(err)
	}
	rest, err := x.View(6, 4)
	if err != nil {
		panic(err)
	}
	a := ladder.Matrix{Buffer: x, Rows: 2, Columns: 2, LD: 3} // 1 2, 4 5
	b := ladder.Matrix{Buffer: rest, Rows: 2, Columns: 2}     // 7 8, 9 10
	c := ladder.Matrix{Buffer: y, Rows: 2, Columns: 2}
	if err := gemm.Multiply(h, 1, a, b, 0, c); err != nil {
		panic(err)
	}
	product := make([]float32, 4)
	if err := y.Download(product); err != nil {
		panic(err)
	}
	fmt.Println(product)
	fmt.Println(gemm.Multiply(h, 1, a, b, 0, b))
	// Output:
	// [25 28 73 82]
	// ops: gemm: c: invalid argument: it shares elements with b, expected memory of its own: an output is written while the other operands are read
}
