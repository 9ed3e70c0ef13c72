package gpu_test

import (
	"errors"
	"slices"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
)

// Upload makes a buffer of the slice's type with its values, and refuses what is no slice of numbers.
func TestUpload(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		b, err := gpu.Upload(d, []uint16{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint16, 3)
		if err := b.Download(got); err != nil || b.Type() != gpu.Uint16 || !slices.Equal(got, []uint16{1, 2, 3}) {
			t.Errorf("%v, %v, %v", b.Type(), got, err)
		}
		if b, err := gpu.Upload(d, []float64{}); err != nil || b.Len() != 0 {
			t.Errorf("%v, %v, expected an empty buffer", b, err)
		}
		for _, bad := range []any{nil, 1, "text", []string{"a"}, [2]int32{1, 2}, []int{1}} {
			if _, err := gpu.Upload(d, bad); !errors.Is(err, gpu.ErrArgument) {
				t.Errorf("%T: %v, expected that it is refused", bad, err)
			}
		}
	})
}
