package bench

import (
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/bench/sample"
)

// Races between blocks are looked for where their marks fit the host's memory.
func TestBlockRacesOfSmallInputs(t *testing.T) {
	d := device.MustOpen("emu")
	defer d.Close()
	for n, want := range map[int]bool{1000: true, 4<<20 - 1: true, 4 << 20: false} {
		b, err := New(d, sample.Operator, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&trial{bench: b}).checks().Has(gpu.CheckBlockRaces); got != want {
			t.Errorf("n = %d: looked for %v, expected %v", n, got, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
