package reduce_test

import (
	"context"
	"fmt"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/reduce"
	"warpbook/ops/run"
)

// A sum, which ends with its context.
func Example() {
	dev := device.MustOpen("emu") // or "cuda:0"
	defer dev.Close()
	h := run.NewHandle(dev)
	defer h.Close()

	x, y := gpu.MustUpload(dev, []float32{1, 2, 3, 4}), gpu.MustUpload(dev, make([]float32, 1))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := reduce.Sum(h.With(ctx), x, y); err != nil {
		panic(err)
	}
	got := make([]float32, 1)
	if err := y.Download(got); err != nil {
		panic(err)
	}
	fmt.Println(got)

	cancel()
	fmt.Println(reduce.Sum(h.With(ctx), x, y))
	// Output:
	// [10]
	// ops: reduce: interrupted before the launch: context canceled
}
