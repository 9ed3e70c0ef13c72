package conv1d_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/conv1d"
	"warpbook/ops/run"
)

// The sum of each element and its neighbours.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, taps := gpu.MustUpload(dev, []float32{1, 2, 3, 4}), gpu.MustUpload(dev, []float32{1, 1, 1})
	y := gpu.MustUpload(dev, make([]float32, 4))
	options := conv1d.Options{Stride: 1, Dilation: 1, Before: conv1d.Same, After: conv1d.Same}
	if err := conv1d.Correlate(h, options, x, taps, y); err != nil {
		panic(err)
	}
	got := make([]float32, 4)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [3 6 9 7]
}
