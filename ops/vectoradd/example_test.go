package vectoradd_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/vectoradd"
)

// Two vectors.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, y := gpu.MustUpload(dev, []float32{1, 2, 3}), gpu.MustUpload(dev, []float32{10, 20, 30})
	z := gpu.MustUpload(dev, make([]float32, 3))
	if err := vectoradd.Add(h, x, y, z); err != nil {
		panic(err)
	}
	got := make([]float32, 3)
	if err := z.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [11 22 33]
}
