package cuda

import (
	_ "embed"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
)

// compiledPTX and tilePTX are what `go run ./gpu/nvrtc -release 12.0` makes of
// testdata/compiled.cu, and with -arch sm_90 of testdata/tile.cu.
var (
	//go:embed testdata/compiled.sm_75.ptx
	compiledPTX string
	//go:embed testdata/tile.sm_90.ptx
	tilePTX string
)

// onGPU is both without the fake worker, for kernels that the emulator does not run.
func onGPU(t *testing.T, test func(*bench)) {
	d, err := openGPU(t)
	b := &bench{T: t, device: d}
	b.ok(err)
	defer func() { b.ok(d.Close()) }()
	b.module, err = d.Load("faults.ptx", faultsPTX)
	b.ok(err)
	test(b)
}

// TestCompiledFaults checks an assertion and a stack that is too deep.
func TestCompiledFaults(t *testing.T) {
	onGPU(t, func(b *bench) {
		m, err := b.device.Load("compiled.sm_75.ptx", compiledPTX)
		b.ok(err)
		for _, c := range []struct {
			entry string
			more  []any
			kinds []error
		}{
			{"asserts", nil, []error{gpu.ErrTrap}},
			{"recurses", []any{uint32(1 << 20)}, []error{gpu.ErrTrap, gpu.ErrOutOfBounds}}, // the driver has no code for it
		} {
			x := b.zeros(4).Label("input")
			e, err := m.Entry(c.entry)
			b.ok(err)
			err = b.run(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: append([]any{x}, c.more...)})
			b.Logf("%s: %v", c.entry, err)
			if !slices.ContainsFunc(c.kinds, func(kind error) bool { return errors.Is(err, kind) }) || !strings.Contains(err.Error(), c.entry) {
				b.Errorf("%s: %v, expected one of %v", c.entry, err, c.kinds)
			}
			b.works(c.entry)
		}
		if a := b.launch("spills").Entry.Attributes(); a.Registers < 1 || a.LocalBytes < 1024 {
			b.Errorf("attributes %+v, expected registers and 1024 bytes of local memory", a)
		}
	})
}

// TestMemoryRunsOut checks that the last buffer that does not fit is an error
// and no fault.
func TestMemoryRunsOut(t *testing.T) {
	both(t, func(b *bench) {
		x := b.zeros(1)
		half := int(b.device.Info().GlobalBytes / 2)
		for _, alloc := range []func(gpu.Type, int) (gpu.Buffer, error){b.device.Alloc, b.device.AllocAsync} {
			var held []gpu.Buffer
			var err error
			for range 2 {
				var y gpu.Buffer
				if y, err = alloc(gpu.Uint8, half); err != nil {
					break
				}
				held = append(held, y)
			}
			b.Log(err)
			if !errors.Is(err, gpu.ErrMemory) || strings.Contains(err.Error(), "\n") {
				b.Errorf("two buffers of half the memory: %v, expected %q in one line", err, gpu.ErrMemory)
			}
			for _, y := range held {
				b.ok(y.Free())
			}
		}
		b.ok(b.run(b.launch("add", x))) // x is not lost
	})
}

// TestLoadLog checks that the assembler's words are in the error of PTX that
// it refuses.
func TestLoadLog(t *testing.T) {
	onGPU(t, func(b *bench) {
		const before = "trap;" // cp.async is of a later .target than the module's
		text := strings.Replace(faultsPTX, before, "cp.async.wait_all;\n\t"+before, 1)
		_, err := b.device.Load("later.ptx", text)
		b.Log(err)
		if !errors.Is(err, gpu.ErrMalformed) || !strings.Contains(err.Error(), "later.ptx") || !strings.Contains(err.Error(), "sm_80") {
			b.Errorf("%v, expected %q and the assembler's log", err, gpu.ErrMalformed)
		}
		b.works("a load that was refused")
	})
}

// TestTensorMap copies a tile by TMA, as it is and rounded to TF32.
func TestTensorMap(t *testing.T) {
	onGPU(t, func(b *bench) {
		if b.device.Info().Compute.Major < 9 {
			b.Skip("needs sm_90, for TMA")
		}
		m, err := b.device.Load("tile.sm_90.ptx", tilePTX)
		b.ok(err)
		e, err := m.Entry("tile")
		b.ok(err)
		const columns, rows = 32, 16
		seed := uint64(time.Now().UnixNano())
		b.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		in := make([]float32, rows*columns)
		for i := range in {
			in[i] = math.Float32frombits(math.Float32bits(float32(i)+random.Float32()) | 1) // between two TF32 numbers, but not halfway
		}
		x, err := b.device.Alloc(gpu.Float32, len(in))
		b.ok(err)
		b.ok(x.Upload(in))
		out, err := b.device.Alloc(gpu.Float32, 32)
		b.ok(err)
		tensor := gpu.TensorMap{Buffer: x, Shape: []int{columns, rows}, Box: []int{8, 4}}
		const column, row = 20, 9
		l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Args: []any{tensor, out, int32(column), int32(row)}}
		b.ok(b.run(l))
		expect := func(of func(float32) float32) {
			got := make([]float32, 32)
			b.ok(out.Download(got))
			for i, v := range got {
				if want := of(in[(row+i/8)*columns+column+i%8]); v != want {
					b.Fatalf("element %d of the tile is %v, expected %v", i, v, want)
				}
			}
		}
		expect(func(v float32) float32 { return v })
		tensor.TF32 = true
		l.Args[0] = tensor
		b.ok(b.run(l))
		expect(func(v float32) float32 { return math.Float32frombits((math.Float32bits(v) + 0x1000) &^ 0x1fff) })
		tensor.Box = []int{7, 4} // rows of 28 bytes, expected a multiple of 16
		l.Args[0] = tensor
		b.ok(b.device.Launch(l))
		err = b.device.Sync()
		b.Log(err)
		if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "tensor map") {
			b.Errorf("a box that the driver refuses: %v, expected %q", err, gpu.ErrArgument)
		}
		b.works("a tensor map that was refused")
	})
}

// TestGraphOutlives checks that a graph is made again by a fresh worker, if
// its buffers were kept, and otherwise names the lost buffers.
func TestGraphOutlives(t *testing.T) {
	both(t, func(b *bench) {
		x, y := b.zeros(4), b.zeros(4).Label("other")
		b.ok(x.Keep())
		kept, err := b.device.Capture(b.device, func() error { return b.device.Launch(b.launch("add", x)) })
		b.ok(err)
		lost, err := b.device.Capture(b.device, func() error { return b.device.Launch(b.launch("add", y)) })
		b.ok(err)
		b.ok(kept.Launch(b.device))
		b.ok(lost.Launch(b.device))
		b.ok(b.device.Sync())
		if err := b.run(b.launch("traps")); err == nil {
			b.Fatal("a trap is no error")
		}
		b.ok(kept.Launch(b.device))
		b.ok(b.device.Sync())
		got := make([]uint32, 4)
		b.ok(x.Download(got))
		if got[0] != 2 {
			b.Errorf("two launches of the graph, one before and one after a fault, gave %d", got[0])
		}
		if err := lost.Launch(b.device); !errors.Is(err, gpu.ErrClosed) || !strings.Contains(err.Error(), "buffer other (16 bytes) was lost") {
			b.Errorf("a graph of a lost buffer: %v", err)
		}
		b.ok(kept.Close())
		b.ok(lost.Close())
	})
}

// TestGraphFaults checks that a fault in a graph names its launches.
func TestGraphFaults(t *testing.T) {
	both(t, func(b *bench) {
		x := b.zeros(4)
		g, err := b.device.Capture(b.device, func() error {
			return errors.Join(b.device.Launch(b.launch("add", x)), b.device.Launch(b.launch("traps")))
		})
		b.ok(err)
		b.ok(g.Launch(b.device))
		err = b.device.Sync()
		b.Log(err)
		var f *gpu.Fault
		if !errors.As(err, &f) || !errors.Is(err, gpu.ErrTrap) || !strings.Contains(err.Error(), "traps") {
			b.Errorf("%v, expected a trap that names its launch", err)
		}
		b.works("a fault in a graph")
	})
}

// TestGraphParallel checks, by the clock and generously, that branches of a
// graph overlap: each waits for the other through memory and would else never
// end.
func TestGraphParallel(t *testing.T) {
	onGPU(t, func(b *bench) {
		x, y := b.zeros(1), b.zeros(1)
		s, err := b.device.NewStream()
		b.ok(err)
		fork, err := b.device.NewEvent()
		b.ok(err)
		join, err := b.device.NewEvent()
		b.ok(err)
		g, err := b.device.Capture(b.device, func() error {
			return errors.Join(b.device.Record(fork), s.Wait(fork),
				b.device.Launch(b.launch("endless", x)), // until the other branch has written
				s.Launch(b.launch("add", y)), s.Launch(b.launch("add", x)),
				s.Record(join), b.device.Wait(join))
		})
		b.ok(err)
		stop := time.AfterFunc(10*time.Second, b.device.Interrupt)
		defer stop.Stop()
		b.ok(g.Launch(b.device))
		b.ok(b.device.Sync())
	})
}
