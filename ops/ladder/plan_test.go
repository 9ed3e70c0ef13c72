package ladder

import (
	"fmt"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// The copy engine takes no view that starts where it cannot: the rung is refused
// by its name, and without a name another one runs.
func TestTensorMapAlignment(t *testing.T) {
	d := device.MustOpen("emu")
	t.Cleanup(func() { d.Close() })
	whole, err := d.Alloc(gpu.BFloat16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for start, want := range map[int]string{
		0: "<nil>", 8: "<nil>",
		2: "unsupported: a is a view from byte 4 of its buffer on: the copy engine takes matrices that start at a multiple of 16 bytes, use another rung",
	} {
		view, err := whole.View(start, 32)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (TensorMap{Tensor: "a", Rows: 4, Columns: 8, LD: 8, Box: [2]int{4, 64}}).Of(view); fmt.Sprint(err) != want {
			t.Errorf("from element %d on: %v, expected %s", start, err, want)
		}
	}
}
