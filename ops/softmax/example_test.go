package softmax_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/softmax"
)

// The shares of two rows; no exponent overflows.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []float32{0, 0, 1000, 1000})
	y := gpu.MustUpload(dev, make([]float32, 4))
	if err := softmax.Of(h, 2, 2, x, y); err != nil {
		panic(err)
	}
	got := make([]float32, 4)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [0.5 0.5 0.5 0.5]
}
