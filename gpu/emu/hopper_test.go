package emu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"warpbook/gpu"
)

// hopperKernel is an entry of sm_90a with the parameters tensor map, buffer of words and
// two coordinates. Its shared memory begins with 16 KB for tiles.
func hopperKernel(directives, body string) string {
	return fmt.Sprintf(`.version 8.0
.target sm_90a
.address_size 64
.visible .entry op(.param .align 64 .b8 map[128], .param .u64 out, .param .s32 x, .param .s32 y, .param .s32 z)
%s
{
	.reg .pred %%a<10>;
	.reg .b16 %%h<4>;
	.reg .b32 %%r<80>, %%t, %%x, %%y, %%z, %%tile, %%bar, %%rank;
	.reg .b64 %%d<20>, %%m, %%o;
	.reg .f32 %%f<140>;
	.shared .align 1024 .b8 memory[16384];
	.shared .align 8 .b64 full;
	mov.u32 %%t, %%tid.x;
	mov.b64 %%m, map;
	cvta.param.u64 %%m, %%m;
	ld.param.u64 %%o, [out];
	ld.param.s32 %%x, [x];
	ld.param.s32 %%y, [y];
	ld.param.s32 %%z, [z];
	mov.u32 %%tile, memory;
	mov.u32 %%bar, full;
	mov.u32 %%rank, %%cluster_ctarank;
	setp.ne.u32 %%a0, %%t, 0;
%s
	ret;
}
`, directives, body)
}

// hopperLaunch runs such an entry with x as its tensor's elements.
func hopperLaunch(t *testing.T, text string, tensor gpu.TensorMap, x any, grid, block int, at ...int32) ([]uint32, error) {
	t.Helper()
	d, e := loadEntry(t, text, "op")
	n := len(x.([]float32))
	b, err := d.Alloc(gpu.Float32, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Upload(x); err != nil {
		t.Fatal(err)
	}
	out, err := d.Alloc(gpu.Uint32, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Upload(make([]uint32, 4096)); err != nil {
		t.Fatal(err)
	}
	tensor.Buffer = b.Label("x")
	for len(at) < 3 {
		at = append(at, 0)
	}
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: grid}, Block: gpu.Dim{X: block}, Checks: gpu.CheckAll,
		Args: []any{tensor, out.Label("out"), at[0], at[1], at[2]}}); err != nil {
		return nil, err
	}
	got := make([]uint32, 4096)
	if err := out.Download(got); err != nil {
		t.Fatal(err)
	}
	return got, nil
}

const (
	initBarrier = `@%a0 bra ready;
	mbarrier.init.shared::cta.b64 [%bar], 1;
	fence.mbarrier_init.release.cluster;
ready:
	bar.sync 0;
`
	waitBarrier = `again:
	mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %a1, [%bar], 0;
	@!%a1 bra again;
`
)

// tileToOut copies the first words of the tile to out, 32 threads a row.
func tileToOut(words int) string {
	return fmt.Sprintf(`mov.u32 %%r1, %%t;
	setp.ge.u32 %%a2, %%t, %d;
	@%%a2 bra copied;
copy:
	mad.lo.u32 %%r2, %%r1, 4, %%tile;
	ld.shared.u32 %%r3, [%%r2];
	mul.wide.u32 %%d1, %%r1, 4;
	add.u64 %%d1, %%d1, %%o;
	st.global.u32 [%%d1], %%r3;
	add.u32 %%r1, %%r1, 32;
	setp.lt.u32 %%a2, %%r1, %d;
	@%%a2 bra copy;
copied:
`, words, words)
}

// TestTensorLoads copies tiles of 1 to 3 directions, inside of the tensor and
// across its edges, with every swizzle, and rounded to TF32.
func TestTensorLoads(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	shape := []int{40, 12, 5}
	x := make([]float32, shape[0]*shape[1]*shape[2])
	for i := range x {
		x[i] = random.Float32() - 0.5
	}
	for rank := 1; rank <= 3; rank++ {
		for _, swizzle := range []int{0, 32, 64, 128} {
			for _, at := range [][]int32{{0, 0, 0}, {16, 3, 1}, {33, 9, 3}, {-5, -2, -1}, {36, 0, 4}, {100, 0, 0}} {
				box := []int{max(8, swizzle/4), 6, 2}[:rank]
				tensor := gpu.TensorMap{Shape: shape[:rank], Box: box, Swizzle: swizzle, TF32: rank == 2}
				words := box[0]
				for _, n := range box[1:] {
					words *= n
				}
				coordinates := strings.Join([]string{"%x", "%y", "%z"}[:rank], ", ")
				text := hopperKernel("", initBarrier+fmt.Sprintf(`@%%a0 bra wait;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%bar], %d;
	cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes [%%tile], [%%m, {%s}], [%%bar];
wait:
`, 4*words, rank, coordinates)+waitBarrier+tileToOut(words))
				got, err := hopperLaunch(t, text, tensor, x, 1, 32, at...)
				if err != nil {
					t.Fatalf("rank %d, swizzle %d, at %v: %v", rank, swizzle, at, err)
				}
				for n := range words {
					c := []int{n%box[0] + int(at[0]), 0, 0}
					if rank > 1 {
						c[1] = n/box[0]%box[1] + int(at[1])
					}
					if rank > 2 {
						c[2] = n/(box[0]*box[1]) + int(at[2])
					}
					want := uint32(0)
					inside := true
					for d := range rank {
						inside = inside && c[d] >= 0 && c[d] < shape[d]
					}
					if inside {
						if want = math.Float32bits(x[c[0]+shape[0]*(c[1]+shape[1]*c[2])]); tensor.TF32 {
							want = (want + 0x1000) &^ 0x1fff
						}
					}
					if place := exchanged(4*n, swizzle) / 4; got[place] != want {
						t.Fatalf("seed %d, rank %d, swizzle %d, at %v: word %d of the tile is %#x, expected %#x", seed, rank, swizzle, at, n, got[place], want)
					}
				}
			}
		}
	}
}

// exchanged is the place of a byte of a swizzled tile, computed span by span.
func exchanged(at, swizzle int) int {
	if swizzle == 0 {
		return at
	}
	parts := swizzle / 16
	part, row := at/16%parts, at/128
	return at/swizzle*swizzle + (part^row%parts)*16 + at%16
}

// TestTensorStores stores a tile across the edges of a tensor: elements outside of the
// tensor are not written.
func TestTensorStores(t *testing.T) {
	x := make([]float32, 8*6)
	body := `mad.lo.u32 %r2, %t, 4, %tile;
	st.shared.u32 [%r2], %t;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%a0 bra done;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%x, %y}], [%tile];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group.read 0;
done:
	bar.sync 0;
	mul.wide.u32 %d1, %t, 4;
	add.u64 %d1, %d1, %o;
	`
	d, e := loadEntry(t, hopperKernel("", body), "op")
	b, err := d.Alloc(gpu.Float32, len(x))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := d.Alloc(gpu.Uint32, 32)
	if err := b.Upload(x); err != nil {
		t.Fatal(err)
	}
	tensor := gpu.TensorMap{Buffer: b, Shape: []int{8, 6}, Box: []int{8, 4}}
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Checks: gpu.CheckAll, Args: []any{tensor, out, int32(3), int32(4), int32(0)}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Download(x); err != nil {
		t.Fatal(err)
	}
	for i, v := range x {
		want := uint32(0)
		if row, column := i/8-4, i%8-3; row >= 0 && column >= 0 {
			want = uint32(row*8 + column)
		}
		if math.Float32bits(v) != want {
			t.Errorf("element %d is %#x, expected %#x", i, math.Float32bits(v), want)
		}
	}
}

// TestCopyEngineFaults: a tile is not readable before a thread has waited for it, and a
// source must not change before it was read.
func TestCopyEngineFaults(t *testing.T) {
	tensor := gpu.TensorMap{Shape: []int{32, 8}, Box: []int{32, 4}}
	x := make([]float32, 256)
	start := initBarrier + `@%a0 bra wait;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 512;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%m, {%x, %y}], [%bar];
wait:
`
	store := `mad.lo.u32 %r2, %t, 16, %tile;
	st.shared.v4.u32 [%r2], {%t, %t, %t, %t};
	fence.proxy.async.shared::cta;
	bar.sync 0;
	@%a0 bra done;
	cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {%x, %y}], [%tile];
	cp.async.bulk.commit_group;
	st.shared.u32 [%tile+64], 99;
	cp.async.bulk.wait_group.read 0;
done:
`
	for _, c := range []struct {
		name, body string
		kind       error
		says       string
	}{
		{"a read before the wait", start + tileToOut(128), gpu.ErrRace, "wrote it with cp.async.bulk.tensor.2d"},
		{"a source that is written again", store, gpu.ErrRace, "byte 64 of shared variable memory was written again before cp.async.bulk.wait_group"},
		{"a source without a fence", strings.Replace(store, "fence.proxy.async.shared::cta;", "", 1), gpu.ErrRace,
			"byte 0 of shared variable memory was written by thread (0,0,0) with st.shared.v4.u32 at line 26, and no fence.proxy.async stands between"},
		{"no mbarrier", strings.Replace(start, "mbarrier.init.shared::cta.b64 [%bar], 1;", "", 1), gpu.ErrUninitialized, "mbarrier.init comes first"},
		{"a destination that is not aligned", strings.Replace(start, "bytes [%tile]", "bytes [%tile+16]", 1), gpu.ErrMisaligned, "byte 16 of shared variable memory, expected a multiple of 128"},
		{"bytes that are no map", strings.Replace(start, "[%m, {", "[%m+16, {", 1), gpu.ErrArgument, "no tensor map of 2 directions"},
		{"a tile of another rank", strings.NewReplacer("tensor.2d", "tensor.3d", "{%x, %y}", "{%x, %y, %z}").Replace(start), gpu.ErrArgument, "no tensor map of 3 directions"},
	} {
		if _, err := hopperLaunch(t, hopperKernel("", c.body), tensor, x, 1, 32); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, expected %v that says %q", c.name, err, c.kind, c.says)
		}
	}
	for says, tensor := range map[string]gpu.TensorMap{
		"rows of 12 bytes, expected a multiple of 16":      {Shape: []int{32, 8}, Box: []int{3, 4}},
		"a stride of 124 bytes, expected a multiple of 16": {Shape: []int{31, 8}, Box: []int{4, 4}},
		"at most the 32 bytes of its swizzle":              {Shape: []int{32, 8}, Box: []int{32, 4}, Swizzle: 32},
	} {
		if _, err := hopperLaunch(t, hopperKernel("", start), tensor, x, 1, 32); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected it to say %q", err, says)
		}
	}
}

// TestClusters: blocks of a cluster know their rank, read each other's shared memory
// after their barrier, and multicast.
func TestClusters(t *testing.T) {
	tensor := gpu.TensorMap{Shape: []int{32, 8}, Box: []int{32, 1}}
	x := make([]float32, 256)
	for i := range x {
		x[i] = float32(i)
	}
	meet := "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;\n"
	// Each block writes 100*ctaid + t, and reads that of the next block of its cluster.
	exchange := `mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r1, %r1, 100, %t;
	mad.lo.u32 %r2, %t, 4, %tile;
	st.shared.u32 [%r2], %r1;
	` + meet + `add.u32 %r3, %rank, 1;
	mov.u32 %r4, %cluster_nctarank;
	rem.u32 %r3, %r3, %r4;
	mapa.shared::cluster.u32 %r5, %r2, %r3;
	ld.shared::cluster.u32 %r6, [%r5];
	mov.u32 %r7, %ctaid.x;
	mad.lo.u32 %r7, %r7, 32, %t;
	mul.wide.u32 %d1, %r7, 4;
	add.u64 %d1, %d1, %o;
	st.global.u32 [%d1], %r6;
	` + meet
	got, err := hopperLaunch(t, hopperKernel(".explicitcluster .reqnctapercluster 3, 1, 1", exchange), tensor, x, 6, 32)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got[:6*32] {
		block := i / 32
		if want := uint32(100*(block/3*3+(block+1)%3) + i%32); v != want {
			t.Fatalf("word %d is %d, expected %d", i, v, want)
		}
	}
	multicast := initBarrier + meet + `@%a0 bra wait;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;
	setp.ne.u32 %a3, %rank, 0;
	@%a3 bra wait;
	mov.u16 %h1, 3;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%tile], [%m, {%x, %y}], [%bar], %h1;
wait:
	` + waitBarrier + `mad.lo.u32 %r2, %t, 4, %tile;
	ld.shared.f32 %f1, [%r2];
	cvt.rzi.u32.f32 %r6, %f1;
	mov.u32 %r7, %ctaid.x;
	mad.lo.u32 %r7, %r7, 32, %t;
	mul.wide.u32 %d1, %r7, 4;
	add.u64 %d1, %d1, %o;
	st.global.u32 [%d1], %r6;
	` + meet
	if got, err = hopperLaunch(t, hopperKernel(".explicitcluster .reqnctapercluster 2, 1, 1", multicast), tensor, x, 2, 32, 0, 5); err != nil {
		t.Fatal(err)
	}
	for i, v := range got[:64] {
		if want := uint32(5*32 + i%32); v != want {
			t.Fatalf("word %d is %d, expected %d", i, v, want)
		}
	}
	for says, c := range map[string]struct {
		directives, body string
		grid             int
		kind             error
	}{
		"expected multiples of the cluster (2,1,1)":      {".reqnctapercluster 2, 1, 1", exchange, 3, gpu.ErrShape},
		"expected at most 8 blocks":                      {".reqnctapercluster 16, 1, 1", exchange, 16, gpu.ErrShape},
		"block 5 of a cluster of 2":                      {".reqnctapercluster 2, 1, 1", "mapa.shared::cluster.u32 %r5, %tile, 5;", 2, gpu.ErrSpace},
		"without barrier.cluster.arrive before":          {".reqnctapercluster 2, 1, 1", "barrier.cluster.wait.aligned;", 2, gpu.ErrBarrier},
		"32 threads (0-31) wait at barrier.cluster.wait": {".reqnctapercluster 2, 1, 1", "setp.eq.u32 %a3, %rank, 0; @%a3 bra wait; bar.sync 1, 64; wait: " + meet, 2, gpu.ErrMask},
		"byte 0 of shared variable memory, of which not": {".reqnctapercluster 2, 1, 1", "ld.shared.u32 %r5, [%tile];", 2, gpu.ErrUninitialized},
	} {
		if _, err := hopperLaunch(t, hopperKernel(c.directives, c.body), tensor, x, c.grid, 32); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%v, expected %v that says %q", err, c.kind, says)
		}
	}
}
