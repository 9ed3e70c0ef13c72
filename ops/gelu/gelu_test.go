package gelu

import (
	"math"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

func TestConformance(t *testing.T)    { optest.Run(t, Operator) }
func TestConformanceErf(t *testing.T) { optest.Run(t, Erf) }

// The reference against values of tables: the two forms differ in the fourth digit.
func TestReference(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ x, tanh, erf float64 }{
		{0, 0, 0}, {1, 0.8411920, 0.8413447}, {-1, -0.1588080, -0.1586553}, {3, 2.9963627, 2.9959503}, {-3, -0.0036374, -0.0040497},
		{65504, 65504, 65504}, {-65504, 0, 0}, {inf, inf, inf}, {-inf, 0, 0}, {math.NaN(), math.NaN(), math.NaN()},
	} {
		check := func(name string, form func(float64) float64, want float64) {
			got := reference(nil, []float32{float32(c.x)}, form)[0].Value[0]
			if !(math.Abs(got-want) < 1e-6) && got != want && (got == got || want == want) {
				t.Errorf("%s of %v is %v, expected %v", name, c.x, got, want)
			}
		}
		check("tanh form", tanhForm, c.tanh)
		check("erf form", erfForm, c.erf)
	}
}

// half is the inverse of rounding to float16.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 1: 0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0xfc00: float32(math.Inf(-1))} {
		if got := half(bits); got != want {
			t.Errorf("%#x is %v, expected %v", bits, got, want)
		}
	}
	if v := half(0x7c01); v == v {
		t.Errorf("0x7c01 is %v, expected NaN", v)
	}
}

// The errors at every half, on every device: the last rung of each form is within 0.55
// units, and halves lose hundreds where 1 + tanh cancels.
func TestErrors(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d gpu.Device) {
		h := run.NewHandle(d)
		defer h.Close()
		for _, o := range []*ladder.Operator{Operator, Erf} {
			for _, v := range o.Variants {
				h.Variant = v.Name
				e, err := ErrorsOf(h, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(e)
				if len(e.X) != 63_487 || e.X[0] != -65504 || e.X[31_743] != 0 || e.X[63_486] != 65504 {
					t.Fatalf("%d halves from %v to %v", len(e.X), e.X[0], e.X[len(e.X)-1])
				}
				_, most := e.Largest()
				switch v.Name {
				case "gelu_exp2", "gelu_block_128", "gelu_erfc8":
					if !(most <= 0.55) {
						t.Errorf("%v, expected at most 0.55", e)
					}
				case "gelu_half", "gelu_half2", "gelu_half8":
					if !(most > 100) {
						t.Errorf("%v, expected more than 100 where 1 + tanh cancels", e)
					}
				}
			}
		}
	})
}
