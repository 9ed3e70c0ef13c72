package copyif_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/copyif"
	"warpbook/ops/run"
)

// The elements above 0, in their order.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []float32{3, -1, 4, 0, 5})
	y, count := gpu.MustUpload(dev, make([]float32, 5)), gpu.MustUpload(dev, make([]uint32, 1))
	if err := copyif.Positive(h, x, y, count); err != nil {
		panic(err)
	}
	got, n := make([]float32, 5), make([]uint32, 1)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	if err := count.Download(n); err != nil {
		panic(err)
	}
	fmt.Println(got[:n[0]])
	// Output:
	// [3 4 5]
}
