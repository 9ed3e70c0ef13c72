package ladder

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
)

// long is a buffer of any length without its memory.
type long struct {
	gpu.Buffer
	n int
}

func (b long) Len() int                          { return b.n }
func (b long) View(_, n int) (gpu.Buffer, error) { return long{b.Buffer, n}, nil }

// launched is a runner that keeps the memory of its call.
type launched struct {
	device gpu.Device
	memory map[string]gpu.Buffer
}

func (r *launched) Device() gpu.Device { return r.device }
func (r *launched) Rung() string       { return "" }
func (r *launched) Launch(_ *Operator, _ Size, memory map[string]gpu.Buffer, _ ...string) error {
	r.memory = memory
	return nil
}

// A vector has as many elements as its operator takes, 2^31 and more too: entries of a
// wide sparse matrix, or all elements of a large matrix.
func TestLongVectors(t *testing.T) {
	d := device.MustOpen("emu")
	t.Cleanup(func() { d.Close() })
	b, err := d.Alloc(gpu.Float32, 1)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		math.MaxInt32: "", math.MaxInt32 + 1: "", MostElements: "",
		MostElements + 1: "ops: longest: x: invalid argument: 1 x 274877906945, expected at most 2^38 elements",
		math.MaxInt:      "expected at most 2^38 elements",
		-1:               "1 x -1, expected 0 to 2147483647 of each",
	} {
		r := &launched{device: d}
		c := NewOperands(r, "longest")
		c.Add("x", Vector(long{b, n}, n), true, gpu.Float32)
		err := c.Run(nil, nil)
		switch {
		case want != "" && (!errors.Is(err, gpu.ErrArgument) || !strings.Contains(fmt.Sprint(err), want)):
			t.Errorf("%d elements: %v, expected %s", n, err, want)
		case want == "" && err != nil:
			t.Errorf("%d elements: %v", n, err)
		case want == "" && r.memory["x"].Len() != n:
			t.Errorf("%d elements: a view of %d", n, r.memory["x"].Len())
		}
	}
}
