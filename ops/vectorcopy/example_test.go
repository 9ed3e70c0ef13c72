package vectorcopy_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/vectorcopy"
)

// A vector.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, y := gpu.MustUpload(dev, []float32{1, 2, 3}), gpu.MustUpload(dev, make([]float32, 3))
	if err := vectorcopy.Copy(h, x, y); err != nil {
		panic(err)
	}
	got := make([]float32, 3)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [1 2 3]
}
