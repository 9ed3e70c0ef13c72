package emu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// smallCode is a number from -3 to 3 as a factor.
func smallCode(v int, of ptx.Type) uint32 {
	switch of {
	case "f16", "bf16":
		return uint32(arith.RoundFloat(float64(v), arith.Nearest, arith.FormatOf(of)))
	case "tf32":
		return math.Float32bits(float32(v))
	case "e4m3", "e5m2":
		return uint32(arith.FP8s[of+"x2"].Encode(float64(v), false))
	}
	return uint32(uint8(int8(v)))
}

// TestSparseAndFP8Products multiplies small numbers, whose sums are exact, by mma
// of fp8 and by mma.sp with every selector, and compares with a product in Go.
func TestSparseAndFP8Products(t *testing.T) {
	const seed = 5
	random := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		of, ofB   ptx.Type
		k         int
		sparse    string
		selectors int
	}{
		{"e4m3", "e5m2", 32, "", 1}, {"e5m2", "e4m3", 16, "", 1},
		{"f16", "f16", 16, ".sp", 4}, {"bf16", "bf16", 32, ".sp::ordered_metadata", 2},
		{"tf32", "tf32", 8, ".sp", 4}, {"tf32", "tf32", 16, ".sp::ordered_metadata", 2},
		{"s8", "s8", 32, ".sp", 2}, {"s8", "s8", 64, ".sp", 1}, {"e4m3", "e5m2", 64, ".sp", 1},
	} {
		for selector := range c.selectors {
			name := fmt.Sprintf("mma%s m16n8k%d %s %s, selector %d", c.sparse, c.k, c.of, c.ofB, selector)
			per := max(1, 4/c.of.Bytes())
			words := make([]uint32, 32*32)
			put := func(lane, register, element int, v int, of ptx.Type) {
				words[lane*32+register] |= smallCode(v, of) << (element * 8 * of.Bytes() % 32)
			}
			var a [16][64]int // with its zeros
			var b [64][8]int
			for row := range 16 {
				for stored := 0; stored < c.k; stored++ {
					k := stored
					if c.sparse != "" {
						if stored >= c.k/2 {
							break
						}
						k = keepElement(random, words, c.of, row, stored, selector, c.k)
					}
					a[row][k] = random.IntN(7) - 3
					put(row%8*4+stored%(4*per)/per, row/8+2*(stored/(4*per)), stored%per, a[row][k], c.of)
				}
			}
			for k := range c.k {
				for n := range 8 {
					b[k][n] = random.IntN(7) - 3
					put(n*4+k%(4*per)/per, 8+k/(4*per), k%per, b[k][n], c.ofB)
				}
			}
			aWords, bWords, operands := c.k*16/32/per, c.k*8/32/per, ""
			if c.sparse != "" {
				aWords /= 2
				operands = fmt.Sprintf(", %%r20, %d", selector)
			}
			to, list := "f32", func(letter string, from, n int) string {
				var all []string
				for i := range n {
					all = append(all, fmt.Sprintf("%%%s%d", letter, from+i))
				}
				return "{" + strings.Join(all, ",") + "}"
			}
			sums, zero := list("f", 0, 4), "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;"
			if c.of == "s8" {
				to, sums, zero = "s32", list("r", 24, 4), "mov.u32 %r24, 0; mov.u32 %r25, 0; mov.u32 %r26, 0; mov.u32 %r27, 0;"
			}
			body := "mad.wide.u32 %d1, %t, 128, %q0;\n" + zero
			for i := range aWords {
				body += fmt.Sprintf("ld.global.b32 %%r%d, [%%d1+%d];\n", 2+i, 4*i)
			}
			for i := range bWords {
				body += fmt.Sprintf("ld.global.b32 %%r%d, [%%d1+%d];\n", 10+i, 4*(8+i))
			}
			body += fmt.Sprintf("ld.global.b32 %%r20, [%%d1+80];\nmma%s.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s %s, %s, %s, %s%s;\nmad.wide.u32 %%d2, %%t, 16, %%q1;\n",
				c.sparse, c.k, to, c.of, c.ofB, to, sums, list("r", 2, aWords), list("r", 10, bWords), sums, operands)
			for i, register := range strings.Split(strings.Trim(sums, "{}"), ",") {
				body += fmt.Sprintf("st.global.b32 [%%d2+%d], %s;\n", 4*i, register)
			}
			d, e := loadEntry(t, strings.Replace(kernel("", body), "sm_80", "sm_90", 1), "op")
			j := &job{T: t, device: d}
			y := j.alloc("y", make([]uint32, 128))
			if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{j.alloc("x", words), y, uint32(1)}}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := make([]uint32, 128)
			if err := y.Download(got); err != nil {
				t.Fatal(err)
			}
			for row := range 16 {
				for n := range 8 {
					want := 0
					for k := range c.k {
						want += a[row][k] * b[k][n]
					}
					v := got[(row%8*4+n/2)*4+row/8*2+n%2]
					is := int(int32(v))
					if to == "f32" {
						is = int(math.Float32frombits(v))
					}
					if is != want {
						t.Fatalf("seed %d, %s: element (%d, %d) is %d, expected %d", seed, name, row, n, is, want)
					}
				}
			}
		}
	}
}

// keepElement picks the k of a stored element of a row and notes it in the
// metadata, word 20 of each lane.
func keepElement(random *rand.Rand, words []uint32, of ptx.Type, row, stored, selector, k int) int {
	if of == "tf32" {
		second := random.IntN(2)
		bits := []uint32{0b0100, 0b1110}[second]
		words[(row%8*4+selector*k/8+stored/4)*32+20] |= bits << (row/8*16 + stored%4*4)
		return 2*stored + second
	}
	chunk, of2 := stored/2, stored%2
	word, shift := 0, 0
	if of.Bytes() == 2 {
		word, shift = (row%8*4+selector*k/16+chunk/4)*32+20, row/8*16+chunk%4*4
	} else {
		word, shift = (row%8*4+selector*2+row/8+chunk/8*2)*32+20, chunk%8*4
	}
	if of2 == 0 {
		first := random.IntN(3)
		words[word] |= uint32(first|(first+1+random.IntN(3-first))<<2) << shift
	}
	return 4*chunk + int(words[word]>>(shift+2*of2)&3)
}

// TestSparsityMetadata: metadata that names an element twice, or in the wrong order
// where it must ascend, is a fault.
func TestSparsityMetadata(t *testing.T) {
	for sparse, says := range map[string]string{
		"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t,%t}, {%t,%t}, {%f0,%f1,%f2,%f3}, %r2, 0;":                   "has the bits 0101 for chunk 0 of row 0, expected two different indices",
		"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t,%t}, {%t,%t}, {%f0,%f1,%f2,%f3}, %r3, 0;": "has the bits 0001 for chunk 0 of row 0, expected two indices that ascend",
		"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%t,%t}, {%t,%t}, {%f0,%f1,%f2,%f3}, %r3, 3;":                  "has the bits 0001 for chunk 0 of row 0, expected 0100 for the first element or 1110 for the second",
	} {
		d, e := loadEntry(t, strings.Replace(kernel("", "mov.u32 %r2, 0x55555555; mov.u32 %r3, 0x11111111; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"+sparse), "sm_80", "sm_90", 1), "op")
		j := &job{T: t, device: d}
		y := j.alloc("y", make([]uint32, 1))
		err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{y, y, uint32(1)}})
		if err == nil {
			err = d.Sync()
		}
		if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected that it says %q", sparse, err, says)
		}
	}
}
