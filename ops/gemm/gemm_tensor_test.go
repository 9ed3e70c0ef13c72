package gemm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
)

// tensorOperators are those on tensor cores.
var tensorOperators = []gpu.Type{gpu.Float32, gpu.BFloat16, gpu.Float16}

// Every rung that the device has, with strides, scalings and gaps that stay as
// they were.
func TestTensorOptions(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, elements := range tensorOperators {
			options := []Options{{Alpha: 1.5, Beta: 0.5, LDA: 48, LDB: 136, LDC: 144}, {Alpha: -2, Beta: 1, LDA: 43, LDB: 131, LDC: 131}, {Beta: 3}}
			for _, o := range optest.Some(t, device, 1, options) {
				for _, n := range []int{129, 128} { // the copy engine stores multiples of eight
					optest.CheckAll(t, optest.NewBench(t, device, Tensor(o, elements), seed, 130, n, 41), "random")
				}
			}
		}
	})
}

// Products of -1, 0 and 1 are exact in every type: an element in the wrong
// place has no rounding to hide behind.
func TestGemmTensorExact(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		for _, elements := range tensorOperators {
			o, size := Tensor(Options{Alpha: 1}, elements), ladder.Size{144, 136, 72}
			b := optest.NewBench(t, device, o, 1, size...)
			exact := o.Exact(nil, size, 5)
			for i, name := range []string{"a", "b"} {
				if err := b.SetInput(name, exact[i]); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range optest.CheckAll(t, b, "signs").Rows {
				if r.Error != 0 {
					t.Errorf("%s: error %v of products that are exact", r.Name, r.Error)
				}
			}
		}
	})
}

// The copy engine reads A and B and stores D, all by rows of 16 bytes, and stores no
// less: the error for an unsupported argument names the argument.
func TestCopyEngineRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"": {Alpha: 1}, "lda = 44": {Alpha: 1, LDA: 44}, "ldb = 68": {Alpha: 1, LDB: 68}, "ldc = 68": {Alpha: 1, LDC: 68},
	} {
		err := o.copyEngineRefuses("gemm_bf16_wgmma", 2)(ladder.Size{64, 64, 40})
		if name == "" && err != nil || name != "" && (!errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), name)) {
			t.Errorf("%v: %v, expected %q", o, err, name)
		}
	}
	for size, says := range map[int]string{2: "n = 60: the copy engine stores 16 bytes at once, expected a multiple of 8", 4: ""} {
		err := Options{Alpha: 1, LDB: 64, LDC: 64}.copyEngineStores("any", size)(ladder.Size{64, 60, 40})
		if (err == nil) != (says == "") || err != nil && (!errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), says)) {
			t.Errorf("elements of %d bytes: %v, expected %q", size, err, says)
		}
	}
}

// Blocks of Hopper's products: as few as take no more rounds. And the copy engine
// rounds the factors of gemm_tf32_wgmma, no others.
func TestHopperPlan(t *testing.T) {
	for _, c := range []struct {
		size   ladder.Size
		blocks int
	}{
		{ladder.Size{8, 8, 8}, 2}, {ladder.Size{256, 512, 64}, 4}, {ladder.Size{256, 66 * 256, 64}, 132}, {ladder.Size{256, 66*256 + 8, 64}, 68}, {ladder.Size{256, 132 * 256, 64}, 132},
		{ladder.Size{2048, 2048, 2048}, 128}, {ladder.Size{4096, 4096, 4096}, 128}, {ladder.Size{8192, 8192, 8192}, 128},
	} {
		for rung, rounded := range map[string]string{"gemm_tf32_wgmma": "true true false false", "gemm_bf16_wgmma": "false false false false", "gemm_tf32x3": "false false false false false"} {
			o := TF32
			if rung == "gemm_bf16_wgmma" {
				o = BF16
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
				got = append(got, fmt.Sprint(a.(ladder.TensorMap).TF32))
			}
			if got := strings.Join(got, " "); got != rounded {
				t.Errorf("%s: rounded on their way: %s, want %s", rung, got, rounded)
			}
		}
	}
}
