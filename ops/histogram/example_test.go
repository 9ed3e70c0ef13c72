package histogram_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/histogram"
	"warpbook/ops/run"
)

// Values outside the bins are counted apart.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []int32{0, 2, 2, 3, 7, -1})
	counts, dropped := gpu.MustUpload(dev, make([]uint32, 4)), gpu.MustUpload(dev, make([]uint32, 1))
	if err := histogram.Count(h, x, counts, dropped); err != nil {
		panic(err)
	}
	got, others := make([]uint32, 4), make([]uint32, 1)
	if err := counts.Download(got); err != nil {
		panic(err)
	}
	if err := dropped.Download(others); err != nil {
		panic(err)
	}
	fmt.Println(got, others)
	// Output:
	// [1 0 2 1] [2]
}
