package concat_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/concat"
	"warpbook/ops/run"
)

// Two matrices of two rows, side by side.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	left := concat.Part{Buffer: gpu.MustUpload(dev, []float32{1, 2}), Shape: []int{2, 1}}
	right := concat.Part{Buffer: gpu.MustUpload(dev, []float32{3, 4, 5, 6}), Shape: []int{2, 2}}
	y := gpu.MustUpload(dev, make([]float32, 6))
	if err := concat.Along(h, 1, []concat.Part{left, right}, y); err != nil {
		panic(err)
	}
	got := make([]float32, 6)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// [1 3 4 2 5 6]
}
