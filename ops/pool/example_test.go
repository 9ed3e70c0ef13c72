package pool_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/ladder"
	"warpbook/ops/pool"
	"warpbook/ops/run"
)

// The maximum of each window of 2 x 2, and its place.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []float32{1, 5, 2, 0, 3, 4, 8, 6})
	y, index := gpu.MustUpload(dev, make([]float32, 2)), gpu.MustUpload(dev, make([]int32, 2))
	if err := pool.MaxPool(h, pool.Options{Window: 2, Stride: 2}, ladder.Size{1, 2, 4}, x, y, index); err != nil {
		panic(err)
	}
	got, places := make([]float32, 2), make([]int32, 2)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	if err := index.Download(places); err != nil {
		panic(err)
	}
	fmt.Println(got, places)
	// Output:
	// [5 8] [1 6]
}
