package scan_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/scan"
)

// Running sums, with and without the element itself.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x := gpu.MustUpload(dev, []int32{3, 1, 4, 1, 5})
	y := gpu.MustUpload(dev, make([]int32, 5))
	if err := scan.Inclusive(h, x, y); err != nil {
		panic(err)
	}
	got := make([]int32, 5)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	if err := scan.Exclusive(h, x, y); err != nil {
		panic(err)
	}
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [3 4 8 9 14]
	// [0 3 4 8 9]
}
