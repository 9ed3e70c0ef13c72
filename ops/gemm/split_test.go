package gemm

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// inParts are the rungs that add float32 as parts in fewer bits.
var inParts = []string{"gemm_tf32x3", "gemm_bf16x3", "gemm_fp16x3"}

// eachHopper runs a test on every device with wgmma.
func eachHopper(t *testing.T, f func(*testing.T, gpu.Device)) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		if info := device.Info(); info.Emulated || info.Compute.Major != hopper.Major {
			t.Skipf("%v has no wgmma", info)
		}
		f(t, device)
	})
}

// The parts of a number add up to it, down to the smallest that bfloat16 has in its
// last part, and hold as many bits as they may; those of scaled rows and columns do to
// 2^-39 of the largest. Infinity is 1 and itself.
func TestGemmParts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	inf := float32(math.Inf(1))
	special := []float32{inf, -inf, float32(math.NaN()), 0, math.MaxFloat32, -math.MaxFloat32, 0x1p-110, 3.3961776e38, -3.3961774e38}
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		if ladder.Older(device.Info().Compute, hopper) {
			t.Skipf("%v: split for Hopper alone", device.Info())
		}
		size := ladder.Size{9, 20, 44}
		random := ladder.NewRandom(seed)
		for _, c := range []struct {
			rung, input   string
			rows, columns int
			parts         []string
			ld            int
			unused        uint32  // bits of float32 that a part has not
			rest          float64 // what may be left, beside the number
			scaled        float64 // and beside the largest of its row or column
		}{
			{"gemm_bf16x3", "a", 9, 44, []string{"a0", "a1", "a2"}, 48, 0xffff, 0, 0},
			{"gemm_bf16x3", "b", 44, 20, []string{"b0", "b1", "b2"}, 24, 0xffff, 0, 0},
			{"gemm_tf32x3", "a", 9, 44, []string{"high", "low"}, 44, 0x1fff, 0x1p-22, 0},
			{"gemm_fp16x3", "a", 9, 44, []string{"a0", "a1"}, 48, 0x1fff, 0x1p-23, 0x1p-39},
			{"gemm_fp16x3", "b", 44, 20, []string{"b0", "b1"}, 24, 0x1fff, 0x1p-23, 0x1p-39},
		} {
			x, most := make([]float32, c.rows*c.columns), map[int]float64{}
			for i := range x {
				x[i] = float32(math.Copysign(math.Ldexp(1+random.Float64(), random.IntN(20)-10*(i%12)), random.Float64()-0.5))
			}
			copy(x[40:], special)
			line := func(i int) int { // the row or column with one scale
				if c.input == "b" {
					return i % c.columns
				}
				return i / c.columns
			}
			for i, v := range x {
				most[line(i)] = max(most[line(i)], finite(v))
			}
			inputs := map[string][]float32{}
			for i, tensor := range TF32.Inputs(size) {
				inputs[tensor.Name] = ladder.Uniform(nil, tensor.Len, ladder.NewRandom(uint64(i)))
			}
			inputs[c.input] = slices.Clone(x)
			parts := splitOf(t, device, c.rung, size, inputs, c.parts)
			for i, v := range x {
				at, sum := i/c.columns*c.ld+i%c.columns, 0.0
				for p := range parts {
					part := parts[p][at]
					sum += float64(part)
					if math.Float32bits(part)&c.unused != 0 && v == v {
						t.Errorf("%s: part %d of %v is %v, more bits than it may have", c.rung, p, v, part)
					}
				}
				if c.scaled > 0 {
					sum = math.Ldexp(sum, math.Ilogb(most[line(i)])-14)
				}
				right := math.Abs(sum-float64(v)) <= c.rest*finite(v)+c.scaled*most[line(i)]
				switch {
				case v != v:
					right = sum != sum
				case v-v != 0:
					right = sum == float64(v) && parts[0][at] == float32(math.Copysign(1, float64(v)))
				}
				if !right {
					t.Errorf("%s: parts of %v in %s add up to %v, the first is %v", c.rung, v, c.input, sum, parts[0][at])
				}
			}
		}
	})
}

// splitOf runs all steps of a rung but the product, as a rung whose outputs are
// parts that the rung has as scratch.
func splitOf(t *testing.T, device gpu.Device, rung string, size ladder.Size, inputs map[string][]float32, names []string) (parts [][]float32) {
	t.Helper()
	v, err := TF32.Variant(rung)
	if err != nil {
		t.Fatal(err)
	}
	whole, o := v.Plan, *TF32
	plan := whole(rung, size, device.Info())
	var outputs []ladder.Tensor
	for _, name := range names {
		i := slices.IndexFunc(plan.Scratch, func(s ladder.Tensor) bool { return s.Name == name })
		outputs = append(outputs, plan.Scratch[i])
	}
	o.Outputs = func(ladder.Size) []ladder.Tensor { return outputs }
	v.Plan = func(entry string, s ladder.Size, info gpu.Info) ladder.Plan {
		p := whole(entry, s, info)
		p.Steps = p.Steps[:len(p.Steps)-1]
		p.Scratch = slices.DeleteFunc(p.Scratch, func(s ladder.Tensor) bool { return slices.Contains(names, s.Name) })
		return p
	}
	o.Variants = []ladder.Variant{v}
	h := run.NewHandle(device)
	defer h.Close()
	buffers := map[string]gpu.Buffer{}
	for _, s := range append(o.Inputs(size), outputs...) {
		b, err := device.Alloc(s.Elements(), s.Len)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		values, ok := inputs[s.Name]
		if !ok {
			values = ladder.Poisoned(s.Len)
		}
		if err := s.Upload(nil, b, values); err != nil {
			t.Fatal(err)
		}
		buffers[s.Name] = b
	}
	if err := h.Run(&o, size, buffers); err != nil {
		t.Fatal(err)
	}
	for _, s := range outputs {
		parts = append(parts, make([]float32, s.Len))
		if err := s.Download(nil, buffers[s.Name], parts[len(parts)-1]); err != nil {
			t.Fatal(err)
		}
	}
	return parts
}

// What is infinite or NaN as a sum of float32 is so as a sum of products of parts,
// also beside factors of one part; the largest numbers do not round to infinity.
func TestGemmInPartsSpecialValues(t *testing.T) {
	inf := float32(math.Inf(1))
	eachHopper(t, func(t *testing.T, device gpu.Device) {
		size := ladder.Size{132, 136, 12}
		b := optest.NewBench(t, device, TF32, 1, size...)
		for _, others := range []string{"uniform", "signs"} {
			for i, special := range [][2]float32{
				{math.MaxFloat32, 0.5}, {-math.MaxFloat32, 1}, {1, math.MaxFloat32}, {0x1p-110, 0x1p80}, // float16 has no part of others in such a row
				{float32(math.NaN()), 1}, {1, float32(math.NaN())}, {inf, 1}, {-inf, 1}, {1, inf}, {1, -inf}, {inf, inf}, {inf, -inf}, {inf, 0},
			} {
				rungs := inParts
				if i < 4 {
					rungs = inParts[:2]
				}
				inputs := TF32.Exact(nil, size, 5)
				for i, name := range []string{"a", "b"} {
					x := inputs[i].([]float32)
					if others == "uniform" {
						x = ladder.Uniform(nil, len(x), ladder.NewRandom(uint64(i)))
					}
					x[0], x[len(x)/2], x[len(x)-1] = special[i], special[i], special[i]
					if err := b.SetInput(name, x); err != nil {
						t.Fatal(err)
					}
				}
				optest.CheckAll(t, b, fmt.Sprintf("%v among %s", special, others), rungs...)
			}
		}
	})
}

// The error is no larger than that of sums in float32, of the same data.
func TestGemmInPartsAccuracy(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	eachHopper(t, func(t *testing.T, device gpu.Device) {
		for _, low := range []float32{0, -1} {
			plain, parts := optest.NewBench(t, device, Operator, seed, 256, 256, 4096), optest.NewBench(t, device, TF32, seed, 256, 256, 4096)
			for i, name := range []string{"a", "b"} {
				x := ladder.Uniform(nil, 256*4096, ladder.NewRandom(seed+uint64(i)))
				for j, v := range x {
					x[j] = low + v*(1-low)
				}
				for _, b := range []*bench.Bench{plain, parts} {
					if err := b.SetInput(name, x); err != nil {
						t.Fatal(err)
					}
				}
			}
			most := optest.CheckAll(t, plain, "float32", "gemm_serpentine").Rows[0].Error
			rows := optest.CheckAll(t, parts, "parts", inParts...).Rows
			if len(rows) != len(inParts) {
				t.Errorf("%d rows, expected %v", len(rows), inParts)
			}
			for _, r := range rows {
				t.Logf("from %v: %s %.2g, gemm_serpentine %.2g", low, r.Name, r.Error, most)
				if !(r.Error <= most) {
					t.Errorf("from %v: %s has an error of %.2g of the sum of |terms|, gemm_serpentine %.2g", low, r.Name, r.Error, most)
				}
			}
		}
	})
}
