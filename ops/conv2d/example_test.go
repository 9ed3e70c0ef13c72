package conv2d_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/conv2d"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// An image of 3 x 3 under one filter of 3 x 3, whose bias is 10.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9})
	w := gpu.MustUpload(dev, []float32{1, 1, 1, 1, 1, 1, 1, 1, 1})
	bias, y := gpu.MustUpload(dev, []float32{10}), gpu.MustUpload(dev, make([]float32, 9))
	options := conv2d.Options{Stride: 1, Padding: 1, Dilation: 1, Groups: 1, Bias: true}
	size := ladder.Size{1, 1, 3, 3, 1, 3, 3} // n, c, h, w, k, r, s
	if err := conv2d.Convolve(h, options, size, x, w, bias, y); err != nil {
		panic(err)
	}
	got := make([]float32, 9)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [22 31 26 37 55 43 34 49 38]
}
