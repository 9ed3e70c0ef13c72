package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/emu/arith"
	"warpbook/gpu/ptx"
)

// TestWarpgroupProducts multiplies random matrices by wgmma, with each layout of
// a descriptor, and compares with dot products of the same tensor cores.
func TestWarpgroupProducts(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	for _, of := range []ptx.Type{"bf16", "f16", "tf32", "e4m3"} {
		size := uint64(of.Bytes())
		k := 32 / of.Bytes()
		for _, span := range []uint64{0, 32, 64, 128} {
			for _, trans := range []bool{false, true} {
				if trans && size != 2 {
					continue
				}
				const n = 16
				l := layoutFor(span, size, trans)
				values := make([]uint64, 64*k)
				for i := range values {
					if values[i] = random.Uint64N(1<<15)&^(1<<14) | 1<<13; of == "tf32" {
						values[i] = uint64(math.Float32bits(random.Float32()-0.5)) &^ 0x1fff
					}
					if of == "e4m3" {
						values[i] = random.Uint64N(256) &^ 8 // no NaN
					}
				}
				// A is 64 rows and B the first 16 of them again, after A.
				data := make([]byte, 16384)
				put := func(r, k int, at tileLayout, v uint64) {
					var word [8]byte
					binary.LittleEndian.PutUint64(word[:], v)
					copy(data[at.place(uint64(r), uint64(k), size, trans):], word[:size])
				}
				b := l
				b.start = 8192
				for i := range 64 * k {
					put(i/k, i%k, l, values[i])
					if i/k < n {
						put(i/k, i%k, b, values[i])
					}
				}
				x := make([]float32, 4096)
				for i := range x {
					x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
				}
				got, err := hopperLaunch(t, hopperKernel("", wgmmaBody(of, n, k, l, b, trans)), gpu.TensorMap{Shape: []int{4096}, Box: []int{256}}, x, 1, 128)
				if err != nil {
					t.Fatalf("%s, span %d, transposed %v: %v", of, span, trans, err)
				}
				core := arith.TensorCoreOf(gpu.Compute{Major: 9})
				if of == "e4m3" {
					core = arith.FP8Core(gpu.Compute{Major: 9})
				}
				drop := 0
				if of == "tf32" {
					drop = 13
				}
				terms := make([]arith.Term, len(values))
				for i, v := range values {
					if terms[i] = arith.TermOf(v>>drop, arith.FormatOf(of)); of == "e4m3" {
						terms[i] = arith.FP8Term(v, of)
					}
				}
				for i := range 64 {
					for j := range n {
						want := core.Fuse(core.Fuse(0, terms[i*k:(i+1)*k], terms[j*k:(j+1)*k], of, "f32"), terms[i*k:(i+1)*k], terms[j*k:(j+1)*k], of, "f32")
						// Thread 32*(i/16) + 4*(i%8) + j%8/2 has it in register j/8*4 + i%16/8*2 + j%2.
						thread, register := i/16*32+i%8*4+j%8/2, j/8*4+i%16/8*2+j%2
						if v := got[thread*n/2+register]; uint64(v) != want {
							t.Fatalf("seed %d, %s, span %d, transposed %v: element (%d, %d) is %#x, expected %#x", seed, of, span, trans, i, j, v, want)
						}
					}
				}
			}
		}
	}
}

// tileLayout is a matrix descriptor: the start of a tile in shared memory, the distances
// of its parts, and the bytes of a span in which 16-byte parts are swizzled, 0 for none.
type tileLayout struct{ start, leading, stride, span uint64 }

// place is the offset of element k of row r, with elements of some bytes. Core matrices
// of 8 lines by 16 bytes, or by a span, lie leading and stride bytes apart; a line is a
// row, or, if transposed, a column.
func (l tileLayout) place(r, k, size uint64, trans bool) uint64 {
	line, along := r, k
	if trans {
		line, along = k, r
	}
	wide := max(l.span, 16) / size // elements of a line of a core matrix
	lines, across := line/8*l.stride, along/wide*l.leading
	switch {
	case l.span == 0 && trans:
		lines, across = line/8*l.leading, along/wide*l.stride
	case l.span != 0 && !trans:
		across = 0 // a tile is as wide as a span
	}
	at := l.start + line%8*max(l.span, 16) + along%wide*size + lines + across
	if l.span == 0 {
		return at
	}
	parts := l.span / 16 // of a span; their number is exchanged by that of the 128-byte line
	return at&^((parts-1)<<4) | (at>>4^at>>7)&(parts-1)<<4
}

// layoutFor is a dense layout of 64 rows with 32 bytes of k.
func layoutFor(span, size uint64, trans bool) tileLayout {
	l := tileLayout{span: span}
	wide := max(span, 16) / size // rows side by side, if transposed
	switch {
	case trans && span == 0:
		l.stride, l.leading = 128, 128*(64/wide)
	case trans:
		l.leading, l.stride = 8*span, 8*span*max(1, 64/wide)
	case span == 0:
		l.stride, l.leading = 128, 1024
	default:
		l.stride = 8 * span
	}
	return l
}

func (l tileLayout) descriptor() uint64 {
	return l.start>>4 | l.leading>>4<<16 | l.stride>>4<<32 | map[uint64]uint64{0: 0, 128: 1, 64: 2, 32: 3}[l.span]<<62
}

// wgmmaBody copies the tensor to shared memory and multiplies twice, into the sum.
func wgmmaBody(of ptx.Type, n, k int, a, b tileLayout, trans bool) string {
	var sums []string
	store := ""
	for i := range n / 2 {
		sums = append(sums, fmt.Sprintf("%%f%d", i))
		store += fmt.Sprintf("\tst.global.f32 [%%d1+%d], %%f%d;\n", 4*i, i)
	}
	constants := "1, 1"
	if of.Bytes() == 2 {
		constants = map[bool]string{false: "1, 1, 0, 0", true: "1, 1, 1, 1"}[trans]
	}
	product := fmt.Sprintf("wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {%s}, %%d2, %%d3, %%s, %s;\n", n, k, of, of, strings.Join(sums, ", "), constants)
	return initBarrier + `@%a0 bra wait;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 16384;
	mov.u32 %r1, 0;
next:
	mad.lo.u32 %r2, %r1, 4, %tile;
	cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%m, {%r1}], [%bar];
	add.u32 %r1, %r1, 256;
	setp.lt.u32 %a2, %r1, 4096;
	@%a2 bra next;
wait:
` + waitBarrier + fmt.Sprintf(`mov.b64 %%d2, %#x;
	mov.b64 %%d3, %#x;
	setp.eq.u32 %%a3, %%t, 9999;
	setp.ne.u32 %%a4, %%t, 9999;
	wgmma.fence.sync.aligned;
	%s	%s	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	mul.wide.u32 %%d1, %%t, %d;
	add.u64 %%d1, %%d1, %%o;
%s`, a.descriptor(), b.descriptor(), strings.Replace(product, "%s", "%a3", 1), strings.Replace(product, "%s", "%a4", 1), 2*n, store)
}
