package gemm

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/device"
	"warpbook/ops/ladder"
	"warpbook/ops/optest"
	"warpbook/ops/run"
)

// specializedSizes are of one tile and several, with edges, as many steps along k as
// the ring has and more, tiles that are shared, that are left over and that are not.
var specializedSizes = [][]int{
	{1, 4, 4}, {127, 252, 32}, {128, 256, 64}, {129, 260, 100}, {300, 520, 1000}, {640, 6400, 40}, {2100, 4104, 264}, {256, 512, 4096},
}

// clusterSizes are of one tile and several, with edges, of fewer steps along k than a
// cluster has warpgroups and of more than its rings hold, for clusters of 2, 3 and 4,
// and of more clusters than run at once.
var clusterSizes = [][]int{
	{1, 4, 4}, {127, 124, 32}, {128, 128, 64}, {129, 132, 96}, {256, 384, 292}, {640, 640, 644}, {760, 764, 768}, {1000, 1028, 1000}, {1025, 1200, 1028}, {2100, 520, 264},
}

// Every size, with rows that are longer than the matrix, an n that is no multiple of
// four, and what is scaled and added.
func TestGemmSpecialized(t *testing.T) { testCopied(t, "gemm_specialized", specializedSizes) }

func TestGemmCluster(t *testing.T) { testCopied(t, "gemm_cluster", clusterSizes) }

func testCopied(t *testing.T, rung string, sizes [][]int) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	eachHopper(t, func(t *testing.T, device gpu.Device) {
		check := func(o Options, size ...int) {
			t.Helper()
			optest.CheckAll(t, optest.NewBench(t, device, With(o), seed, size...), "random", rung)
		}
		for _, size := range sizes {
			check(Options{Alpha: 1}, size...)
			check(Options{Alpha: -1.5, Beta: 0.5, LDA: size[2] + 8, LDB: size[1] + 4, LDC: size[1] + 12}, size...)
			m, n, k := size[0], size[1]-3, size[2]-3 // in rows of the same length
			check(Options{Alpha: 1, LDA: size[2], LDB: size[1], LDC: size[1]}, m, n, k)
			check(Options{Alpha: 2, Beta: -1, LDA: size[2], LDB: size[1], LDC: size[1]}, m, n, k)
		}
	})
}

// How many blocks run, and what they take whole and share, around the edges of tiles
// and steps and around fifteen sixteenths of 132 blocks, which are 123.75.
func TestSpecializedShares(t *testing.T) {
	for _, c := range []struct {
		size                ladder.Size
		blocks, whole, rest int
	}{
		{ladder.Size{128, 256, 0}, 1, 1, 0}, {ladder.Size{128, 256, 32}, 1, 1, 0}, {ladder.Size{128, 256, 33}, 2, 0, 1}, {ladder.Size{129, 256, 32}, 2, 2, 0}, {ladder.Size{128, 257, 33}, 4, 0, 2},
		{ladder.Size{128, 256, 131 * 32}, 131, 0, 1}, {ladder.Size{128, 256, 4096 * 32}, 132, 0, 1},
		{ladder.Size{123 * 128, 256, 64}, 132, 0, 123}, {ladder.Size{123*128 + 1, 256, 64}, 132, 124, 0}, {ladder.Size{2048, 2048, 2048}, 132, 128, 0},
		{ladder.Size{128, 132 * 256, 64}, 132, 132, 0}, {ladder.Size{128, 133 * 256, 64}, 132, 132, 1},
		{ladder.Size{255 * 128, 256, 64}, 132, 132, 123}, {ladder.Size{256 * 128, 256, 64}, 132, 256, 0},
		{ladder.Size{4096, 4096, 4096}, 132, 396, 116}, {ladder.Size{8192, 8192, 8192}, 132, 1980, 68},
	} {
		if blocks, whole, rest := specializedStream.share(c.size, 132); blocks != c.blocks || whole != c.whole || rest != c.rest {
			t.Errorf("%v: %d blocks, %d tiles whole and %d shared, want %+v", c.size, blocks, whole, rest, c)
		}
	}
	if blocks, whole, rest := wideStream.share(ladder.Size{2048, 2048, 2048}, 132); blocks != 264 || whole != 0 || rest != 256 {
		t.Errorf("gemm_stream_k at 2048: %d blocks, %d tiles whole and %d shared", blocks, whole, rest)
	}
}

// The number of blocks that share a tile, for few tiles and many, and the launch's arguments.
func TestClusterPlan(t *testing.T) {
	o := Options{Alpha: 1.5, Beta: 0.5, LDA: 2052, LDB: 2056, LDC: 2060}
	v, err := With(o).Variant("gemm_cluster")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size   ladder.Size
		entry  string
		blocks int
	}{
		{ladder.Size{1024, 1024, 1024}, "gemm_cluster", 2 * 64}, {ladder.Size{1000, 1020, 1024}, "gemm_cluster", 2 * 64},
		{ladder.Size{768, 768, 768}, "gemm_cluster_of_3", 3 * 36}, {ladder.Size{640, 640, 640}, "gemm_cluster_of_4", 4 * 25}, {ladder.Size{2048, 2048, 2048}, "gemm_cluster", 2 * 256},
		{ladder.Size{128, 39 * 128, 2048}, "gemm_cluster_of_3", 3 * 39}, {ladder.Size{128, 39*128 + 1, 2048}, "gemm_cluster", 2 * 40},
		{ladder.Size{128, 30 * 128, 2048}, "gemm_cluster_of_4", 4 * 30}, {ladder.Size{128, 30*128 + 1, 2048}, "gemm_cluster_of_3", 3 * 31},
		{ladder.Size{1, 1, 32}, "gemm_cluster", 2},
	} {
		p := v.Plan("gemm_cluster", c.size, hopperInfo)
		if len(p.Steps) != 1 || len(p.Scratch) != 0 {
			t.Fatalf("%v: %+v, expected one launch without memory of its own", c.size, p)
		}
		step := p.Steps[0]
		if step.Entry != c.entry || step.Grid != (gpu.Dim{X: c.blocks}) || step.Block != (gpu.Dim{X: 384, Y: 1}) || step.Shared != 231680 {
			t.Errorf("%v: %+v, want %+v", c.size, step, c)
		}
		m, n, k := c.size[0], c.size[1], c.size[2]
		want := fmt.Sprintf("[{a %d %d 2052 [128 32] false 0 0} {b %d %d 2056 [32 128] false 0 0} c d %d %d %d 2060 1.5 0.5]", m, k, k, n, m, n, k)
		if got := fmt.Sprint(step.Args); got != want {
			t.Errorf("%v: %s, want %s", c.size, got, want)
		}
	}
	if p := v.Plan("gemm_cluster", ladder.Size{0, 4, 4}, hopperInfo); len(p.Steps) != 0 {
		t.Errorf("an empty product: %+v", p)
	}
}

// The arguments of the launches.
func TestSpecializedPlan(t *testing.T) {
	const a, b = "{a 130 40 44 [128 32] false 0 0}", "{b 40 258 260 [32 256] false 0 0}"
	for _, c := range []struct {
		o    Options
		rung string
		args []string
	}{
		{Options{Alpha: 1.5, Beta: 0.5, LDA: 44, LDB: 260, LDC: 264}, "gemm_specialized",
			[]string{"[" + a + " " + b + " c d 130 258 40 264 1.5 0.5 0 parts]", "[c d 130 258 40 264 1.5 0.5 0 parts 8]"}},
		{Options{Alpha: 1, LDA: 44, LDB: 260, LDC: 264}, "gemm_specialized",
			[]string{"[" + a + " " + b + " d d 130 258 40 264 1 0 0 parts]", "[d d 130 258 40 264 1 0 0 parts 8]"}},
		{Options{Alpha: 1, LDA: 44, LDB: 260, LDC: 264}, "gemm_bias_relu_specialized",
			[]string{"[" + a + " " + b + " bias d 130 258 40 264 1 0 parts]", "[bias d 130 258 40 264 1 0 parts 8]"}},
	} {
		o := With(c.o)
		o.Variants = append(o.Variants, c.o.biasReLUVariants()...)
		v, err := o.Variant(c.rung)
		if err != nil {
			t.Fatal(err)
		}
		p := v.Plan(c.rung, ladder.Size{130, 258, 40}, hopperInfo)
		if len(p.Steps) != 2 || len(p.Scratch) != 1 || p.Scratch[0].Len != 2*8*128*256 {
			t.Fatalf("%s: %+v, expected two launches and the parts of 8 blocks", c.rung, p)
		}
		first, second := p.Steps[0], p.Steps[1]
		if first.Entry != c.rung || first.Grid != (gpu.Dim{X: 8}) || first.Block != (gpu.Dim{X: 384, Y: 1}) || first.Shared != 182016 ||
			second.Entry != c.rung+"_2" || second.Grid != (gpu.Dim{X: 4, Y: 32}) || second.Block != (gpu.Dim{X: 256}) {
			t.Errorf("%s: launches of %+v", c.rung, p.Steps)
		}
		for i, want := range c.args {
			if got := fmt.Sprint(p.Steps[i].Args); got != want {
				t.Errorf("%s, launch %d: %s, want %s", c.rung, i, got, want)
			}
		}
		p = v.Plan(c.rung, ladder.Size{128 * 130, 256, 64}, hopperInfo)
		if last := p.Steps[0].Args[len(p.Steps[0].Args)-2:]; len(p.Steps) != 1 || fmt.Sprint(last) != "[130 d]" {
			t.Errorf("%s: %d launches, the first ends with %v, expected one of 130 tiles whole", c.rung, len(p.Steps), last)
		}
	}
}

// Vectors are exchanged in boxes with rows of 128 bytes alone, and a batch has a third
// direction.
func TestTensorMapOfBoxes(t *testing.T) {
	emulator := device.MustOpen("emu")
	t.Cleanup(func() { emulator.Close() })
	buffer, err := emulator.Alloc(gpu.Float32, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    ladder.TensorMap
		want gpu.TensorMap
	}{
		{ladder.TensorMap{Rows: 40, Columns: 41, LD: 44, Box: [2]int{128, 32}}, gpu.TensorMap{Shape: []int{41, 40}, Strides: []int{176}, Box: []int{32, 128}, Swizzle: 128}},
		{ladder.TensorMap{Rows: 40, Columns: 41, LD: 44, Box: [2]int{32, 256}, TF32: true}, gpu.TensorMap{Shape: []int{41, 40}, Strides: []int{176}, Box: []int{256, 32}, TF32: true}},
		{ladder.TensorMap{Rows: 4, Columns: 5, LD: 8, Box: [2]int{32, 256}, Count: 3, Next: 100}, gpu.TensorMap{Shape: []int{5, 4, 3}, Strides: []int{32, 400}, Box: []int{256, 32, 1}}},
	} {
		c.want.Buffer = buffer
		if got, err := c.m.Of(buffer); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, %v, want %+v", c.m, got, err, c.want)
		}
	}
}

// hopperInfo is a GPU with the copy engine.
var hopperInfo = gpu.Info{Name: "a GPU", Compute: hopper, PTX: gpu.Version{Major: 8}, SMs: 132}

// onPaper is a device that notes launches, and runs nothing.
type onPaper struct {
	gpu.Device
	info     gpu.Info
	launched *[]string
}

type modulePaper struct{ gpu.Module }

type entryPaper struct {
	gpu.Entry
	name string
}

func (d onPaper) Info() gpu.Info                          { return d.info }
func (d onPaper) Load(string, string) (gpu.Module, error) { return modulePaper{}, nil }
func (modulePaper) Entry(name string) (gpu.Entry, error)  { return entryPaper{name: name}, nil }
func (modulePaper) Close() error                          { return nil }
func (e entryPaper) Name() string                         { return e.name }
func (d onPaper) Launch(l gpu.Launch) error {
	*d.launched = append(*d.launched, l.Entry.Name())
	return nil
}

// A handle launches what the copy engine feeds where it takes A and B, also as views,
// and another rung elsewhere.
func TestSpecializedIsPicked(t *testing.T) {
	const n = 1536
	emulator := device.MustOpen("emu")
	t.Cleanup(func() { emulator.Close() })
	whole, err := emulator.Alloc(gpu.Float32, n*(n+4)+8)
	if err != nil {
		t.Fatal(err)
	}
	out, err := emulator.Alloc(gpu.Float32, n*n)
	if err != nil {
		t.Fatal(err)
	}
	ampereInfo, blackwell, emulated := hopperInfo, hopperInfo, hopperInfo
	ampereInfo.Compute, blackwell.Compute, emulated.Emulated = ladder.Ampere, gpu.Compute{Major: 10}, true
	for _, c := range []struct {
		what  string
		info  gpu.Info
		alpha float32
		start int // of A, of B, and of C in turn
		ld    int
		gemm  string // by A, B and C that start there
	}{
		{"hopper", hopperInfo, 1, 0, n, "gemm_specialized gemm_specialized gemm_specialized"},
		{"16 bytes on", hopperInfo, 1, 4, n + 4, "gemm_specialized gemm_specialized gemm_specialized"},
		{"4 bytes on", hopperInfo, 1, 1, n, "gemm_stream_k gemm_stream_k gemm_specialized"},
		{"rows of no multiple of 16 bytes", hopperInfo, 1, 0, n + 1, "gemm_stream_k gemm_stream_k gemm_stream_k"},
		{"nothing to multiply", hopperInfo, 0, 0, n, "gemm_stream_k gemm_stream_k gemm_stream_k"},
		{"ampere", ampereInfo, 1, 0, n, "gemm_stream_k gemm_stream_k gemm_stream_k"},
		{"blackwell", blackwell, 1, 0, n, "gemm_stream_k gemm_stream_k gemm_stream_k"},
		{"emulator", emulated, 1, 0, n, "gemm_stream_k gemm_stream_k gemm_stream_k"},
	} {
		var gemm []string
		for shifted := range 3 {
			var launched []string
			h := run.NewHandle(onPaper{emulator, c.info, &launched})
			square := func(b gpu.Buffer, ld int) ladder.Matrix { return ladder.Matrix{Buffer: b, Rows: n, Columns: n, LD: ld} }
			x := [3]ladder.Matrix{square(whole, n), square(whole, n), square(out, n)}
			view, err := whole.View(c.start, n*c.ld)
			if err != nil {
				t.Fatal(err)
			}
			x[shifted] = square(view, c.ld)
			memory := map[string]gpu.Buffer{"a": x[0].Buffer, "b": x[1].Buffer, "d": x[2].Buffer}
			if err := h.Launch(With(options(c.alpha, x[0], x[1], 0, x[2])), ladder.Size{n, n, n}, memory); err != nil {
				t.Fatal(err)
			}
			gemm = append(gemm, launched[0])
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(gemm, " "); got != c.gemm {
			t.Errorf("%s: %s, want %s", c.what, got, c.gemm)
		}
	}
}

// Operands that the rungs do not take are rejected in one line.
func TestSpecializedRefuses(t *testing.T) {
	turing, blackwell := gpu.Info{Name: "T", Compute: gpu.Compute{Major: 7, Minor: 5}}, hopperInfo
	blackwell.Compute.Major = 10
	emulator := device.MustOpen("emu")
	t.Cleanup(func() { emulator.Close() })
	buffer, err := emulator.Alloc(gpu.Float32, 64*68+4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		info          gpu.Info
		start         int // of A
		alpha         float32
		n, k          int
		lda, ldb, ldc int
		says          string
	}{
		{hopperInfo, 0, 1, 64, 40, 64, 64, 64, "<nil>"},
		{hopperInfo, 0, 1, 63, 41, 64, 64, 64, "<nil>"},
		{hopperInfo, 0, 1, 64, 40, 42, 64, 64, "unsupported: lda = 42: the copy engine takes rows of a multiple of 4 elements, use another rung"},
		{hopperInfo, 0, 1, 64, 40, 64, 65, 64, "unsupported: ldb = 65: the copy engine takes rows of a multiple of 4 elements, use another rung"},
		{hopperInfo, 0, 1, 64, 40, 64, 64, 66, "unsupported: ldc = 66: the copy engine takes rows of a multiple of 4 elements, use another rung"},
		{hopperInfo, 0, 0, 64, 40, 64, 64, 64, "unsupported: the copy engine takes no matrix without elements, use another rung"},
		{hopperInfo, 0, 1, 64, 0, 64, 64, 64, "unsupported: the copy engine takes no matrix without elements, use another rung"},
		{hopperInfo, 2, 1, 64, 40, 64, 64, 64, "unsupported: a is a view from byte 8 of its buffer on: the copy engine takes matrices that start at a multiple of 16 bytes, use another rung"},
		{turing, 0, 1, 64, 40, 64, 64, 64, fmt.Sprintf("unsupported on %v, it needs sm_90", turing)},
		{blackwell, 0, 1, 64, 40, 64, 64, 64, fmt.Sprintf("gemm_specialized: no PTX for %v, which loads up to PTX 8.0: unsupported, there is gemm_specialized.sm_90a.ptx (PTX 8.0): "+
			"update the driver or run `go run ./gpu/nvrtc -arch sm_100 ops/gemm/gemm_specialized.cu`", blackwell)},
	} {
		var launched []string
		o := Options{Alpha: c.alpha, LDA: c.lda, LDB: c.ldb, LDC: c.ldc}
		memory := map[string]gpu.Buffer{"b": buffer, "d": buffer, "bias": buffer}
		if memory["a"], err = buffer.View(c.start, 64*68); err != nil {
			t.Fatal(err)
		}
		for _, v := range []ladder.Variant{o.variants()[len(o.variants())-2], o.variants()[len(o.variants())-3], o.biasReLUVariants()[2]} {
			one := *Operator
			one.Variants = []ladder.Variant{v}
			h := run.NewHandle(onPaper{emulator, c.info, &launched})
			h.Variant = v.Name
			err := errors.Join(h.Launch(&one, ladder.Size{64, c.n, c.k}, memory), h.Close())
			says := c.says
			if says != "<nil>" {
				says = "ops: " + v.Name + ": " + strings.ReplaceAll(says, "gemm_specialized", v.Module)
			}
			if fmt.Sprint(err) != says || err != nil && !errors.Is(err, gpu.ErrUnsupported) {
				t.Errorf("%v\nwant %s", err, says)
			}
		}
	}
}
