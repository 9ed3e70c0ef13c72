package ops

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// tensorOperators are those on tensor cores.
var tensorOperators = []gpu.Type{gpu.Float32, gpu.BFloat16, gpu.Float16}

// Every variant that the device has, around the edges of tiles, vectors and
// steps, with strides, scalings and gaps that stay as they were.
func TestGemmTensor(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		for _, elements := range tensorOperators {
			sizes := [][]int{{0, 5, 3}, {5, 3, 0}, {1, 1, 1}, {3, 5, 70}, {129, 127, 41}, {128, 136, 64}, {17, 264, 33}}
			if !device.Info().Emulated { // several tiles of Hopper's, and more steps than stages
				sizes = append(sizes, []int{256, 512, 1024}, []int{300, 520, 200}, []int{1000, 1000, 1000}, []int{2100, 4104, 264})
			}
			for _, size := range sizes {
				c := checkAll(t, newBench(t, device, GemmTensor(GemmOptions{Alpha: 1}, elements), seed, size...), "random")
				if ampere := device.Info().Compute.Major >= 8; ampere && len(c.Rows) < 2 {
					t.Errorf("%v: %d rows, not run: %v", elements, len(c.Rows), c.Environment.NotRun)
				}
			}
			for _, o := range []GemmOptions{{Alpha: 1.5, Beta: 0.5, LDA: 48, LDB: 136, LDC: 144}, {Alpha: -2, Beta: 1, LDA: 43, LDB: 131, LDC: 131}, {Beta: 3}} {
				for _, n := range []int{129, 128} { // the copy engine stores multiples of eight
					checkAll(t, newBench(t, device, GemmTensor(o, elements), seed, 130, n, 41), "random")
				}
			}
		}
	})
}

// Products of -1, 0 and 1 are exact in every type: an element in the wrong
// place has no rounding to hide behind.
func TestGemmTensorExact(t *testing.T) {
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		for _, elements := range tensorOperators {
			b := newBench(t, device, GemmTensor(GemmOptions{Alpha: 1}, elements), 1, 144, 136, 72)
			exact := b.operator.Exact(nil, b.size, 5)
			for i, name := range []string{"a", "b"} {
				if err := b.SetInput(name, exact[i]); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range checkAll(t, b, "signs").Rows {
				if r.Error != 0 {
					t.Errorf("%s: error %v of products that are exact", r.Name, r.Error)
				}
			}
		}
	})
}

// The copy engine reads A and B and stores D, all by rows of 16 bytes, and stores no
// less: what it does not take is refused by its name.
func TestCopyEngineRefuses(t *testing.T) {
	for name, o := range map[string]GemmOptions{
		"": {Alpha: 1}, "lda = 44": {Alpha: 1, LDA: 44}, "ldb = 68": {Alpha: 1, LDB: 68}, "ldc = 68": {Alpha: 1, LDC: 68},
	} {
		err := o.copyEngineRefuses("gemm_bf16_wgmma", 2)(Size{64, 64, 40})
		if name == "" && err != nil || name != "" && (!errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), name)) {
			t.Errorf("%v: %v, expected %q", o, err, name)
		}
	}
	for size, says := range map[int]string{2: "n = 60: the copy engine stores 16 bytes at once, expected a multiple of 8", 4: ""} {
		err := GemmOptions{Alpha: 1, LDB: 64, LDC: 64}.copyEngineStores("any", size)(Size{64, 60, 40})
		if (err == nil) != (says == "") || err != nil && (!errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), says)) {
			t.Errorf("elements of %d bytes: %v, expected %q", size, err, says)
		}
	}
}

// Blocks of Hopper's products: as few as take no more rounds. And the copy engine
// rounds the factors of gemm_tf32_wgmma, no others.
func TestHopperPlan(t *testing.T) {
	for _, c := range []struct {
		size   Size
		blocks int
	}{
		{Size{8, 8, 8}, 2}, {Size{256, 512, 64}, 4}, {Size{256, 66 * 256, 64}, 132}, {Size{256, 66*256 + 8, 64}, 68}, {Size{256, 132 * 256, 64}, 132},
		{Size{2048, 2048, 2048}, 128}, {Size{4096, 4096, 4096}, 128}, {Size{8192, 8192, 8192}, 128},
	} {
		for rung, rounded := range map[string]string{"gemm_tf32_wgmma": "true true false false", "gemm_bf16_wgmma": "false false false false", "gemm_tf32x3": "false false false false false"} {
			o := GemmTF32
			if rung == "gemm_bf16_wgmma" {
				o = GemmBF16
			}
			v, err := o.Variant(rung)
			if err != nil {
				t.Fatal(err)
			}
			steps := v.Plan(rung, c.size, hopperInfo).Steps
			product := steps[len(steps)-1]
			if product.Grid != (gpu.Dim{X: c.blocks}) {
				t.Errorf("%s, %v: %v blocks, want %d", rung, c.size, product.Grid, c.blocks)
			}
			var got []string
			for _, a := range product.Args[:len(product.Args)-1] {
				got = append(got, fmt.Sprint(a.(TensorMap).TF32))
			}
			if got := strings.Join(got, " "); got != rounded {
				t.Errorf("%s: rounded on their way: %s, want %s", rung, got, rounded)
			}
		}
	}
}
