package fused_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/fused"
	"warpbook/ops/run"
)

// Two rows of two: (x + bias) scale where the mask is not 0, and what is added.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, bias := gpu.MustUpload(dev, []float32{1, 2, 3, 4}), gpu.MustUpload(dev, []float32{10, 20})
	mask, add := gpu.MustUpload(dev, []uint8{1, 0, 1, 1}), gpu.MustUpload(dev, []float32{0, 0, 100, 100})
	y := gpu.MustUpload(dev, make([]float32, 4))
	if err := fused.Apply(h, 0.5, x, bias, mask, add, y); err != nil {
		panic(err)
	}
	got := make([]float32, 4)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [5.5 0 106.5 112]
}
