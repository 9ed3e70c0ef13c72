package ladder

import (
	"math"
	"testing"

	"warpbook/gpu"
)

// Every 16-bit float comes back, and what lies between two goes to the nearer
// one, from the middle to the even one.
func TestNarrow(t *testing.T) {
	for kind, n := range narrows {
		for h := range 1 << 16 {
			v := n.widen(uint16(h))
			if v == v && n.round(v) != uint16(h) {
				t.Fatalf("%v %#04x is %v, which rounds to %#04x", kind, h, v, n.round(v))
			}
			next := n.widen(uint16(h) + 1)
			if v != v || h&0x7fff == 0x7fff || math.IsInf(float64(next), 0) || next != next {
				continue
			}
			middle := (float64(v) + float64(next)) / 2
			even := uint16(h + h&1)
			below, above := math.Nextafter32(float32(middle), v), math.Nextafter32(float32(middle), next)
			if n.round(float32(middle)) != even || n.round(below) != uint16(h) || n.round(above) != uint16(h+1) {
				t.Fatalf("%v: around %v: %#04x %#04x %#04x, want %#04x %#04x %#04x", kind, middle,
					n.round(below), n.round(float32(middle)), n.round(above), h, even, h+1)
			}
		}
	}
}

// Worked by hand: formats, overflow, NaN and the poison.
func TestNarrowByHand(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		kind gpu.Type
		v    float32
		want uint16
	}{
		{gpu.Float16, 1, 0x3c00}, {gpu.Float16, 65504, 0x7bff}, {gpu.Float16, 65520, 0x7c00}, {gpu.Float16, 0x1p-24, 1},
		{gpu.Float16, 0x1p-26, 0}, {gpu.Float16, -2, 0xc000}, {gpu.Float16, -inf, 0xfc00}, {gpu.Float16, 3e38, 0x7c00},
		{gpu.BFloat16, 1, 0x3f80}, {gpu.BFloat16, 3.4e38, 0x7f80}, {gpu.BFloat16, 0x1p-133, 1}, {gpu.BFloat16, inf, 0x7f80},
		{gpu.Float16, float32(math.NaN()), 0x7e00}, {gpu.BFloat16, float32(math.NaN()), 0x7fc0},
		{gpu.Float16, Poison, 0x7e5d}, {gpu.BFloat16, Poison, 0x7fed},
	} {
		if got := narrows[c.kind].round(c.v); got != c.want {
			t.Errorf("%v of %v: %#04x, want %#04x", c.kind, c.v, got, c.want)
		}
	}
	if got := narrows[gpu.Float16].widen(0x7e5d); math.Float32bits(got) != math.Float32bits(Poison) {
		t.Errorf("the poison comes back as %#x", math.Float32bits(got))
	}
}
