package pool

import (
	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// MaxPool computes the maximum of each window and its place on buffers of the caller's:
// x (planes, h, w), y and index (planes, oh, ow). y and index overlap nothing.
//
// Types: x, y float32, index int32. Error: none.
func MaxPool(h ladder.Runner, options Options, size ladder.Size, x, y, index gpu.Buffer) error {
	return call(h, options, size, false, x, y, index)
}

// AvgPool computes the mean of each window on buffers of the caller's: x (planes, h, w) and
// y (planes, oh, ow), which overlap nowhere.
//
// Types: float32. Error: that of Avg.
func AvgPool(h ladder.Runner, options Options, size ladder.Size, x, y gpu.Buffer) error {
	return call(h, options, size, true, x, y, nil)
}

func call(h ladder.Runner, options Options, size ladder.Size, average bool, x, y, index gpu.Buffer) error {
	o, err := with(options, average)
	if err != nil {
		return err
	}
	var preferred []string
	if average { // avgpool_pairs is slower
		preferred = []string{"avgpool_vectors"}
	}
	return ladder.Call(h, o, size, map[string]gpu.Buffer{"x": x, "y": y, "index": index}, preferred...)
}
