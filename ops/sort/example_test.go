package sort_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/sort"
)

// Keys with their places: equal keys keep their order.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	keys, values := gpu.MustUpload(dev, []uint32{30, 10, 20, 10}), gpu.MustUpload(dev, []uint32{0, 1, 2, 3})
	sorted, moved := gpu.MustUpload(dev, make([]uint32, 4)), gpu.MustUpload(dev, make([]uint32, 4))
	if err := sort.KeysWithValues(h, keys, values, sorted, moved); err != nil {
		panic(err)
	}
	got, places := make([]uint32, 4), make([]uint32, 4)
	if err := sorted.Download(got); err != nil {
		panic(err)
	}
	if err := moved.Download(places); err != nil {
		panic(err)
	}
	fmt.Println(got, places)
	// Output:
	// [10 10 20 30] [1 3 2 0]
}
