package gelu_test

import (
	"fmt"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/gelu"
	"warpbook/ops/run"
)

// Halves are passed by their bits.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, err := dev.Alloc(gpu.Float16, 3)
	if err != nil {
		panic(err)
	}
	if err := x.Upload([]uint16{0xc000, 0, 0x4000}); err != nil { // -2, 0, 2
		panic(err)
	}
	y, err := dev.Alloc(gpu.Float16, 3)
	if err != nil {
		panic(err)
	}
	if err := gelu.Tanh(h, x, y); err != nil {
		panic(err)
	}
	got := make([]uint16, 3)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Printf("%04x\n", got) // -0.0454, 0, 1.955
	// Output:
	// [a9d0 0000 3fd2]
}
