package emu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// reduced is what a reduction makes of two elements, written down apart from the engine.
func reduced(op string, t ptx.Type, old, v uint64, global bool) uint64 {
	mask := uint64(1)<<(8*t.Bytes()-1)<<1 - 1
	signed := func(x uint64) int64 { return int64(x<<(64-8*t.Bytes())) >> (64 - 8*t.Bytes()) }
	less := old < v
	switch t {
	case "s32", "s64":
		less = signed(old) < signed(v)
	case "f16", "bf16":
		less = arith.Decode(old, t) < arith.Decode(v, t)
	}
	switch op {
	case "and":
		return old & v
	case "or":
		return old | v
	case "xor":
		return old ^ v
	case "min", "max":
		if less == (op == "min") {
			return old
		}
		return v
	case "inc":
		if uint32(old) >= uint32(v) {
			return 0
		}
		return old + 1
	case "dec":
		if old == 0 || uint32(old) > uint32(v) {
			return v
		}
		return old - 1
	}
	switch t {
	case "f32":
		return uint64(math.Float32bits(math.Float32frombits(uint32(old)) + math.Float32frombits(uint32(v))))
	case "f64":
		return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(v))
	case "f16", "bf16":
		return arith.RoundFloat(arith.Decode(old, t)+arith.Decode(v, t), arith.Nearest, arith.FormatOf(t))
	}
	return (old + v) & mask
}

// randomElement is an element without NaN and subnormal numbers.
func randomElement(random *rand.Rand, t ptx.Type) uint64 {
	switch t {
	case "f32":
		return uint64(math.Float32bits(random.Float32() - 0.5))
	case "f64":
		return math.Float64bits(random.Float64() - 0.5)
	case "f16", "bf16":
		return arith.RoundFloat(random.Float64()-0.5, arith.Nearest, arith.FormatOf(t))
	}
	return random.Uint64() >> random.IntN(64) & (uint64(1)<<(8*t.Bytes()-1)<<1 - 1)
}

// split takes a reduction such as add.noftz.f16 apart.
func split(name string) (op string, t ptx.Type) {
	words := strings.Split(name, ".")
	return words[0], ptx.Type(words[len(words)-1])
}

// words are elements in memory.
func wordsIn(elements []uint64, t ptx.Type) []float32 {
	var data []byte
	for _, v := range elements {
		data = binary.LittleEndian.AppendUint64(data, v)[:len(data)+t.Bytes()]
	}
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}

// The operations and types of cp.reduce.async.bulk in PTX: those into shared memory, which
// global memory has too, and the others of global memory.
var (
	sharedReductions = []string{"and.b32", "or.b32", "xor.b32", "add.u32", "add.s32", "add.u64", "inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32"}
	globalReductions = []string{"and.b64", "or.b64", "xor.b64", "min.u64", "min.s64", "max.u64", "max.s64",
		"add.f32", "add.f64", "add.noftz.f16", "add.noftz.bf16", "min.f16", "max.f16", "min.bf16", "max.bf16"}
)

// TestBulkReductions reduces 128 bytes of shared memory into global memory, and into
// shared memory, in every operation and type that PTX lists.
func TestBulkReductions(t *testing.T) {
	const seed, bytes = 11, 128
	random := rand.New(rand.NewPCG(seed, 0))
	for _, global := range []bool{true, false} {
		names := slices.Clone(sharedReductions)
		if global {
			names = append(names, globalReductions...)
		}
		for _, name := range names {
			op, of := split(name)
			n := bytes / of.Bytes()
			elements := make([]uint64, 2*n) // of the destination, then of the source
			for i := range elements {
				elements[i] = randomElement(random, of)
			}
			// The tensor holds both: each copies words 32 to 63 into shared memory first.
			body := initBarrier + `@%a0 bra done;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 256;
	cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%m, {0}], [%bar];
` + waitBarrier
			if global {
				body += `	ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%tile];
	st.global.v4.u32 [%o], {%r10, %r11, %r12, %r13};
`
				for i := 16; i < bytes; i += 16 {
					body += fmt.Sprintf("\tld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%tile+%d];\n\tst.global.v4.u32 [%%o+%d], {%%r10, %%r11, %%r12, %%r13};\n", i, i)
				}
				body += fmt.Sprintf(`	add.u32 %%r2, %%tile, 128;
	cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%o], [%%r2], 128;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
done:
`, name)
			} else {
				body += fmt.Sprintf(`	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], 128;
	add.u32 %%r2, %%tile, 128;
	cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s [%%tile], [%%r2], 128, [%%bar];
next:
	mbarrier.try_wait.parity.shared::cta.b64 %%a1, [%%bar], 1;
	@!%%a1 bra next;
done:
	bar.sync 0;
`, name) + tileToOut(32)
			}
			got, err := hopperLaunch(t, hopperKernel("", body), gpu.TensorMap{Shape: []int{64}, Box: []int{64}}, wordsIn(elements, of), 1, 32)
			if err != nil {
				t.Fatalf("%s, global %v: %v", name, global, err)
			}
			data := make([]byte, 0, bytes)
			for _, w := range got[:bytes/4] {
				data = binary.LittleEndian.AppendUint32(data, w)
			}
			for i := range n {
				var v uint64
				for k := range of.Bytes() {
					v |= uint64(data[i*of.Bytes()+k]) << (8 * k)
				}
				if want := reduced(op, of, elements[i], elements[n+i], global); v != want {
					t.Fatalf("seed %d, %s, global %v: element %d of %#x and %#x is %#x, expected %#x", seed, name, global, i, elements[i], elements[n+i], v, want)
				}
			}
		}
	}
}

// TestReductionsOfTensors reduces a tile into a tensor, whose map names the type, and
// leaves what is outside of it.
func TestReductionsOfTensors(t *testing.T) {
	body := func(op string) string {
		return fmt.Sprintf(`mad.lo.u32 %%r2, %%t, 4, %%tile;
	mov.f32 %%f1, 0f3FC00000;
	st.shared.f32 [%%r2], %%f1;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%%a0 bra done;
	cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group [%%m, {%%x, %%y}], [%%tile];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	cp.async.bulk.prefetch.tensor.2d.L2.global [%%m, {%%x, %%y}];
	mbarrier.init.shared::cta.b64 [%%bar], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], 128;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%%tile], [%%m, {0, 0}], [%%bar];
`, op) + waitBarrier + "done:\n\tbar.sync 0;\n" + tileToOut(32)
	}
	x := make([]float32, 32)
	for i := range x {
		x[i] = float32(i)
	}
	tensor := gpu.TensorMap{Shape: []int{8, 4}, Box: []int{8, 4}}
	got, err := hopperLaunch(t, hopperKernel("", body("add")), tensor, x, 1, 32, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		want := x[i]
		if i/8 >= 1 && i%8 >= 3 {
			want += 1.5
		}
		if v := math.Float32frombits(got[i]); v != want {
			t.Errorf("element %d is %g, expected %g", i, v, want)
		}
	}
	if _, err := hopperLaunch(t, hopperKernel("", body("min")), tensor, x, 1, 32); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "no reduction .min of elements of .f32, which the tensor map has") {
		t.Errorf("%v, expected the reduction refused by its type", err)
	}
}

// TestRemoteValues sends values to the next block of the cluster by st.async and red.async,
// whose mbarrier counts their bytes, and arrives at its mbarrier.
func TestRemoteValues(t *testing.T) {
	meet := "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;\n"
	next := `xor.b32 %r3, %rank, 1;
	mad.lo.u32 %r2, %t, 16, %tile;
	mapa.shared::cluster.u32 %r5, %r2, %r3;
	mapa.shared::cluster.u32 %r6, %bar, %r3;
	mov.u32 %r7, %ctaid.x;
	mad.lo.u32 %r7, %r7, 1000, %t;
`
	expect := func(bytes int) string {
		return fmt.Sprintf("@%%a0 bra expected;\n\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %d;\nexpected:\n", bytes)
	}
	out := `mov.u32 %r7, %ctaid.x;
	mad.lo.u32 %r7, %r7, 32, %t;
	mul.wide.u32 %d1, %r7, 4;
	add.u64 %d1, %d1, %o;
	st.global.u32 [%d1], %r8;
`
	start := initBarrier + "mad.lo.u32 %r2, %t, 16, %tile;\n\tst.shared.u32 [%r2], 5;\n\t" + meet
	for _, c := range []struct {
		name, body string
		want       func(block, lane uint32) uint32
	}{
		{"a word", expect(128) + next + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r7, [%r6];\n" + waitBarrier + "ld.shared.u32 %r8, [%r2];\n",
			func(block, lane uint32) uint32 { return 1000*(block^1) + lane }},
		{"four words", expect(512) + next + "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r7, %r7, %r7, %r3}, [%r6];\n" + waitBarrier + "ld.shared.u32 %r8, [%r2+12];\n",
			func(block, lane uint32) uint32 { return block }},
		{"a double word", expect(256) + next + "cvt.u64.u32 %d2, %r7;\n\tst.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %d2, [%r6];\n" + waitBarrier + "ld.shared.u32 %r8, [%r2];\n",
			func(block, lane uint32) uint32 { return 1000*(block^1) + lane }},
		{"a sum", expect(128) + next + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %r7, [%r6];\n" + waitBarrier + "ld.shared.u32 %r8, [%r2];\n",
			func(block, lane uint32) uint32 { return 1000*(block^1) + lane + 5 }},
		{"a remote arrival", next + "st.shared::cluster.u32 [%r5], %r7;\n\tbar.sync 0;\n\t@%a0 bra arrived;\n\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\narrived:\n" +
			strings.Replace(waitBarrier, "acquire.cta", "acquire.cluster", 1) + "ld.shared.u32 %r8, [%r2];\n",
			func(block, lane uint32) uint32 { return 1000*(block^1) + lane }},
		{"a remote expectation", next + "@%a0 bra sent;\n\tmbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r6], 128;\nsent:\n" +
			"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r7, [%r6];\n" + waitBarrier + "ld.shared.u32 %r8, [%r2];\n",
			func(block, lane uint32) uint32 { return 1000*(block^1) + lane }},
	} {
		text := hopperKernel(".explicitcluster .reqnctapercluster 2, 1, 1", start+c.body+out+meet)
		got, err := hopperLaunch(t, text, gpu.TensorMap{Shape: []int{64}, Box: []int{64}}, make([]float32, 64), 2, 32)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, v := range got[:64] {
			if want := c.want(uint32(i/32), uint32(i%32)); v != want {
				t.Fatalf("%s: word %d is %d, expected %d", c.name, i, v, want)
			}
		}
	}
}

// TestUnknownReductions: types that PTX does not list are rejected by name.
func TestUnknownReductions(t *testing.T) {
	for _, line := range []string{
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%o], [%tile], 128;", // without .noftz
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%o], [%tile], 128;",
		"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%tile], [%tile], 128, [%bar];",
		"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [%tile], %f1, [%bar];",
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.u16 [%tile], %h1, [%bar];",
	} {
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load("test.ptx", hopperKernel("", line))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Entry("op"); !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), "no such form") {
			t.Errorf("%s: %v, expected it refused", line, err)
		}
	}
}

// TestIm2col copies tiles of images in im2col mode, with the offsets of a filter, steps and
// edges, and stores one.
func TestIm2col(t *testing.T) {
	const seed = 5
	random := rand.New(rand.NewPCG(seed, 0))
	for rank := 3; rank <= 5; rank++ {
		shape := []int{8, 7, 5, 3, 2}[:rank]
		shape = append(slices.Clone(shape[:rank-1]), 3)
		size := 1
		for _, n := range shape {
			size *= n
		}
		x := make([]float32, size)
		for i := range x {
			x[i] = random.Float32() + 1
		}
		spatial := rank - 2
		for range 12 {
			c := &gpu.Im2col{Channels: 4, Pixels: 1 + random.IntN(32)}
			var at, offsets []int
			for d := range spatial {
				c.Lower, c.Upper = append(c.Lower, random.IntN(3)-2), append(c.Upper, random.IntN(2)-1)
				c.Steps = append(c.Steps, 1+random.IntN(2))
				at = append(at, c.Lower[d]+random.IntN(shape[d+1]+c.Upper[d]-c.Lower[d]))
				offsets = append(offsets, random.IntN(3))
			}
			channel, image := 4*random.IntN(3)-2, random.IntN(2)
			names := make([]string, 0, rank)
			for _, n := range append(append([]int{channel}, at...), image) {
				names = append(names, fmt.Sprint(n))
			}
			body := initBarrier + "@%a0 bra wait;\n"
			var held []string
			for d, n := range offsets {
				body += fmt.Sprintf("\tmov.u16 %%h%d, %d;\n", d, n)
				held = append(held, fmt.Sprintf("%%h%d", d))
			}
			words := c.Channels * c.Pixels
			body += fmt.Sprintf(`	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %d;
	cp.async.bulk.tensor.%dd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%%tile], [%%m, {%s}], [%%bar], {%s};
wait:
`, 4*words, rank, strings.Join(names, ", "), strings.Join(held, ", ")) + waitBarrier + tileToOut(words)
			tensor := gpu.TensorMap{Shape: shape, Im2col: c, NaN: random.IntN(2) == 0}
			got, err := hopperLaunch(t, hopperKernel("", body), tensor, x, 1, 32)
			if err != nil {
				t.Fatalf("seed %d, rank %d, %+v, coordinates %v: %v", seed, rank, c, names, err)
			}
			// The pixels of the bounding box of all images, one after the other, from the start on.
			position, n := slices.Clone(at), image
			for pixel := range c.Pixels {
				for k := range c.Channels {
					index, stride, inside := 0, 1, true
					for d, p := range append(append([]int{channel + k}, position...), n) {
						if d > 0 && d <= spatial {
							p += offsets[d-1]
						}
						inside = inside && p >= 0 && p < shape[d]
						index += p * stride
						stride *= shape[d]
					}
					want := uint32(0)
					if inside {
						want = math.Float32bits(x[index])
					} else if tensor.NaN {
						want = 0x7fffffff
					}
					if v := got[pixel*c.Channels+k]; v != want {
						t.Fatalf("seed %d, rank %d, %+v, coordinates %v, offsets %v: channel %d of pixel %d is %#x, expected %#x", seed, rank, c, names, offsets, k, pixel, v, want)
					}
				}
				for d := 0; ; d++ {
					if d == spatial {
						n++
						break
					}
					if position[d] += c.Steps[d]; position[d] <= shape[d+1]-1+c.Upper[d] {
						break
					}
					position[d] = c.Lower[d]
				}
			}
		}
	}
}

// TestIm2colStores stores pixels along a box, and rejects coordinates outside of it and maps
// of the other mode.
func TestIm2colStores(t *testing.T) {
	x := make([]float32, 4*4*4*2)
	store := `mad.lo.u32 %r2, %t, 4, %tile;
	cvt.rn.f32.u32 %f1, %t;
	st.shared.f32 [%r2], %f1;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%a0 bra done;
	cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%m, {0, %x, %y, 0}], [%tile];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	mbarrier.init.shared::cta.b64 [%bar], 1;
	fence.mbarrier_init.release.cluster;
	mov.u16 %h1, 0;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;
	cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%tile], [%m, {0, %x, %y, 0}], [%bar], {%h1, %h1};
` + waitBarrier + "done:\n\tbar.sync 0;\n" + tileToOut(32)
	tensor := gpu.TensorMap{Shape: []int{4, 4, 4, 2}, Im2col: &gpu.Im2col{Lower: []int{0, 0}, Upper: []int{0, 0}, Channels: 4, Pixels: 8}}
	got, err := hopperLaunch(t, hopperKernel("", store), tensor, x, 1, 32, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got[:32] {
		if v != math.Float32bits(float32(i)) {
			t.Fatalf("element %d is %g, expected %d", i, math.Float32frombits(v), i)
		}
	}
	for says, c := range map[string]struct {
		tensor gpu.TensorMap
		x      int32
	}{
		"are not in the bounding box":        {tensor, 4},
		"is in tile mode":                    {gpu.TensorMap{Shape: []int{4, 4, 4, 2}, Box: []int{4, 4, 2, 1}}, 0},
		"expected 1 to 256 and 1 to 1024":    {gpu.TensorMap{Shape: []int{4, 4, 4, 2}, Im2col: &gpu.Im2col{Lower: []int{0, 0}, Upper: []int{0, 0}, Channels: 4, Pixels: 2000}}, 0},
		"expected corners from -128 to 127":  {gpu.TensorMap{Shape: []int{4, 4, 4, 2}, Im2col: &gpu.Im2col{Lower: []int{-200, 0}, Upper: []int{0, 0}, Channels: 4, Pixels: 20}}, 0},
		"two directions less in each corner": {gpu.TensorMap{Shape: []int{4, 4}, Im2col: &gpu.Im2col{Channels: 4, Pixels: 20}}, 0},
		"rows of 12 bytes":                   {gpu.TensorMap{Shape: []int{4, 4, 4, 2}, Im2col: &gpu.Im2col{Lower: []int{0, 0}, Upper: []int{0, 0}, Channels: 3, Pixels: 20}}, 0},
	} {
		if _, err := hopperLaunch(t, hopperKernel("", store), c.tensor, x, 1, 32, c.x, 0); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected it to say %q", err, says)
		}
	}
}
