package transpose_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/transpose"
)

// A matrix of two rows gets three.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	a := gpu.MustUpload(dev, []float32{1, 2, 3, 4, 5, 6})
	b := gpu.MustUpload(dev, make([]float32, 6))
	if err := transpose.Matrix(h, 2, 3, a, b); err != nil {
		panic(err)
	}
	got := make([]float32, 6)
	if err := b.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [1 4 2 5 3 6]
}
