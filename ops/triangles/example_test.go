package triangles_test

import (
	"fmt"

	"warpbook/gpu/device"
	"warpbook/ops/run"
	"warpbook/ops/triangles"
)

// A square with one diagonal has two triangles.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	g, err := triangles.FromEdges(4, []triangles.Edge{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}})
	if err != nil {
		panic(err)
	}
	fmt.Println(triangles.Count(h, g))
	// Output:
	// 2 <nil>
}
