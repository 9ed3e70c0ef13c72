package gputest

import (
	"encoding/binary"
	"math"
	"testing"

	"warpbook/gpu"
)

// line is struct Line of cooperative.cu.
type line struct {
	X  gpu.Buffer
	A  float32
	B  float64
	C  [3]int16
	Up bool
}

// testStructs passes structs by value: as a Go struct, with names that are not
// exported, nested, and as bytes.
func testStructs(t *testing.T, s *suite) {
	const n = 100
	in := s.floats(n)
	x, y := s.alloc(gpu.Float32, n, in), s.alloc(gpu.Float32, n, nil)
	e := s.compiled("line")
	if p := e.Params()[1]; p.Bytes != 32 || p.Align != 8 || p.Type != "b8" || p.Count != 32 || p.Pointer {
		t.Errorf("a struct as a parameter is %+v", p)
	}
	l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: n}, Args: []any{y, line{x, 2, 3, [3]int16{-1, 0, 1}, true}, uint32(n)}}
	s.ok(s.run(l))
	s.isLine(in, y, 3)
	type tail struct{ c [3]int16 }
	l.Args[1] = struct {
		x gpu.Buffer
		a float32
		b float64
		tail
		up uint8
	}{x, 2, 4, tail{[3]int16{-1, 0, 1}}, 0}
	s.ok(s.run(l))
	s.isLine(in, y, 3)
	pair, out := s.compiled("swap"), s.alloc(gpu.Uint32, 2, nil)
	raw := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 7), 1<<31)
	for _, arg := range []any{raw, [2]uint32{7, 1 << 31}, [2][1]int32{{7}, {math.MinInt32}}} {
		s.ok(s.device.Zero(out))
		s.ok(s.run(gpu.Launch{Entry: pair, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{arg, out}}))
		got := make([]uint32, 2)
		s.ok(out.Download(got))
		if got[0] != 1<<31 || got[1] != 7 {
			t.Errorf("%T arrives as %v, expected 7 and 1<<31 the other way round", arg, got)
		}
	}
}

// isLine checks y = 2 x + b + c[i%3] for c = -1, 0, 1.
func (s *suite) isLine(x []float32, y gpu.Buffer, b float32) {
	s.Helper()
	got := make([]float32, len(x))
	s.ok(y.Download(got))
	for i, v := range x {
		sum := float32(2*float64(v) + float64(b)) // one rounding or two
		if want := sum + float32(i%3-1); math.Abs(float64(got[i]-want)) > 1e-6 {
			s.Fatalf("y[%d] = %v, expected %v (seed %d)", i, got[i], want, seed)
		}
	}
}

func testStructErrors(t *testing.T, s *suite) {
	out := s.alloc(gpu.Uint32, 2, nil)
	freed := s.alloc(gpu.Float32, 4, nil)
	s.ok(freed.Free())
	pair := gpu.Launch{Entry: s.compiled("swap"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}}
	for _, c := range []struct {
		name string
		arg  any
		says string
	}{
		{"short bytes", make([]byte, 7), "7 bytes, expected a struct, an array or a []byte of 8 bytes"},
		{"a short struct", struct{ a uint32 }{}, "4 bytes as C lays it out"},
		{"padding", struct {
			a uint16
			b uint32
			c uint8
		}{}, "12 bytes as C lays it out"},
		{"alignment", struct{ a uint64 }{}, "aligned to 8 bytes, expected at most 4"},
		{"int", struct{ a int }{}, ".a is int, which has the size of the host's"},
		{"a string", struct{ b [1]string }{}, ".b is string, which the device cannot read"},
		{"a pointer", new(uint32), "which the device cannot read"},
		{"a buffer", out, "a buffer, expected a struct"},
		{"nothing", struct{}{}, "0 bytes"},
		{"a tensor map", gpu.TensorMap{Buffer: out}, "a tensor map, expected a struct"},
	} {
		l := pair
		l.Args = []any{c.arg, out}
		s.refused(l, gpu.ErrArgument, c.name, "swap", "argument 0, swap_param_0", c.says)
	}
	pair.Args = []any{[2]uint32{}, struct{ x uint64 }{}}
	s.refused(pair, gpu.ErrArgument, "a struct for a pointer", "expected a buffer")
	l := gpu.Launch{Entry: s.compiled("line"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{out, line{X: freed}, uint32(0)}}
	s.refused(l, gpu.ErrClosed, "a freed buffer in a struct", "argument 1")
	l.Args[1] = line{}
	s.ok(s.run(l)) // a null pointer that nothing reads
}

// testCooperative lets all blocks of a grid meet at CUDA's barrier.
func testCooperative(t *testing.T, s *suite) {
	info, e := s.device.Info(), s.compiled("rotate")
	l := gpu.Launch{Entry: e, Block: gpu.Dim{X: 1024}, Cooperative: true}
	perSM, err := s.device.Occupancy(l)
	s.ok(err)
	if perSM < 1 || perSM*1024 > info.ThreadsPerSM {
		t.Fatalf("%d blocks of 1024 threads an SM of %d", perSM, info.ThreadsPerSM)
	}
	const n, rounds = 1000, 3
	x, y := make([]uint32, n), s.alloc(gpu.Uint32, n, nil)
	for _, blocks := range []int{1, 2, 5} {
		for i := range x {
			x[i] = s.random.Uint32()
		}
		in := s.alloc(gpu.Uint32, n, x)
		l.Grid, l.Block, l.Args = gpu.Dim{X: blocks}, gpu.Dim{X: 96}, []any{in, y, uint32(n), uint32(rounds)}
		for range 2 {
			s.ok(in.Upload(x))
			s.ok(s.run(l))
			got := make([]uint32, n)
			s.ok(y.Download(got)) // after an odd number of rounds
			for i, v := range x {
				if at := (i + rounds) % n; got[at] != v+rounds {
					t.Fatalf("%d blocks: y[%d] = %d, expected %d: rounds overlap (seed %d)", blocks, at, got[at], v+rounds, seed)
				}
			}
		}
	}
}

// testNotCooperative checks a grid that is too large, and a barrier of the
// grid without a cooperative launch.
func testNotCooperative(t *testing.T, s *suite) {
	info, e := s.device.Info(), s.compiled("rotate")
	x, y := s.alloc(gpu.Uint32, 8, make([]uint32, 8)), s.alloc(gpu.Uint32, 8, nil)
	l := gpu.Launch{Entry: e, Block: gpu.Dim{X: 1024}, Args: []any{x, y, uint32(8), uint32(1)}, Cooperative: true}
	perSM, err := s.device.Occupancy(l)
	s.ok(err)
	l.Grid.X = info.SMs*perSM + 1
	s.refused(l, gpu.ErrShape, "more blocks than fit", "rotate", "cooperative grid", "expected at most", "resident")
	_, err = s.device.Occupancy(gpu.Launch{Entry: e, Block: gpu.Dim{X: 1025}})
	s.is(err, gpu.ErrShape, "occupancy of a block that is too large")
	l.Cooperative, l.Grid.X, l.Block.X = false, 2, 32
	s.is(s.run(l), gpu.ErrTrap, "grid.sync() in a launch that is not cooperative")
	s.works()
}

// testOccupancy checks the limits by threads and by shared memory.
func testOccupancy(t *testing.T, s *suite) {
	info, e := s.device.Info(), s.entry("reverse")
	occupancy := func(threads, shared int) int {
		n, err := s.device.Occupancy(gpu.Launch{Entry: e, Block: gpu.Dim{X: threads}, Shared: shared})
		s.ok(err)
		return n
	}
	for _, threads := range []int{1, 32, 33, 256, 1024} {
		want := min(info.BlocksPerSM, info.ThreadsPerSM/((threads+31)/32*32))
		if got := occupancy(threads, 0); got != want {
			t.Errorf("%d blocks of %d threads an SM, expected %d", got, threads, want)
		}
	}
	if got := occupancy(32, info.SharedPerBlockMax); got != 1 {
		t.Errorf("%d blocks with all of the shared memory, expected 1", got)
	}
	most := info.SharedPerBlockMax/2 - 1024
	if got := occupancy(32, most); got != 2 {
		t.Errorf("%d blocks with half of the shared memory, expected 2", got)
	}
}
