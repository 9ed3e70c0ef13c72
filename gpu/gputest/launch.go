package gputest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// scale is a launch of y = a * x.
func (s *suite) scale(x, y gpu.Buffer, a float32, n int) gpu.Launch {
	return gpu.Launch{
		Entry: s.entry("scale"), Grid: gpu.Dim{X: max(1, (n+127)/128)}, Block: gpu.Dim{X: 128},
		Args: []any{x, y, a, uint32(n)},
	}
}

func testScale(t *testing.T, s *suite) {
	for _, n := range []int{0, 1, 31, 32, 33, 127, 128, 129, 10007} {
		x, poison := s.floats(n), make([]float32, n+1)
		for i := range poison {
			poison[i] = float32(math.NaN())
		}
		in, out := s.alloc(gpu.Float32, n, x), s.alloc(gpu.Float32, n+1, poison)
		s.ok(s.run(s.scale(in, out, 3, n)))
		y := make([]float32, n+1)
		s.ok(out.Download(y))
		for i := range x {
			if y[i] != x[i]*3 {
				t.Fatalf("n %d: y[%d] = %v, expected %v (seed %d)", n, i, y[i], x[i]*3, seed)
			}
		}
		if !math.IsNaN(float64(y[n])) {
			t.Errorf("n %d: a write past the end", n)
		}
	}
}

func testCoordinates(t *testing.T, s *suite) {
	grid, block := gpu.Dim{X: 3, Y: 2, Z: 4}, gpu.Dim{X: 5, Y: 3, Z: 2}
	n := grid.Size() * block.Size()
	out := s.alloc(gpu.Uint32, n, nil)
	s.ok(s.run(gpu.Launch{Entry: s.entry("coordinates"), Grid: grid, Block: block, Args: []any{out}}))
	y := make([]uint32, n)
	s.ok(out.Download(y))
	for i, got := range y {
		b, k := i/block.Size(), i%block.Size()
		want := uint32(b/(grid.X*grid.Y))<<20 | uint32(b/grid.X%grid.Y)<<16 | uint32(b%grid.X)<<12 |
			uint32(k/(block.X*block.Y))<<8 | uint32(k/block.X%block.Y)<<4 | uint32(k%block.X)
		if got != want {
			t.Fatalf("thread %d: %#x, expected %#x", i, got, want)
		}
	}
}

func testParameters(t *testing.T, s *suite) {
	e := s.entry("parameters")
	params := e.Params()
	want := []gpu.Param{{Name: "y", Bytes: 8, Type: "u64", Pointer: true}, {Name: "a", Bytes: 1, Type: "u8"},
		{Name: "b", Bytes: 2, Type: "s16"}, {Name: "c", Bytes: 4, Type: "u32"}, {Name: "d", Bytes: 8, Type: "u64", Pointer: true},
		{Name: "e", Bytes: 4, Type: "f32"}, {Name: "f", Bytes: 8, Type: "f64"}}
	for i := range want {
		want[i].Align, want[i].Count = want[i].Bytes, 1
	}
	if !slices.Equal(params, want) {
		t.Errorf("parameters %+v, expected %+v", params, want)
	}
	out := s.alloc(gpu.Uint64, 6, nil)
	s.ok(s.run(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1},
		Args: []any{out, uint8(200), int16(-2), int32(-1), uint64(1 << 60), float32(1.5), -2.25}}))
	y := make([]uint64, 6)
	s.ok(out.Download(y))
	if want := []uint64{200, 1<<64 - 2, 1<<32 - 1, 1 << 60, 0x3fc00000, math.Float64bits(-2.25)}; !slices.Equal(y, want) {
		t.Errorf("parameters arrive as %#x, expected %#x", y, want)
	}
}

func testDynamicShared(t *testing.T, s *suite) {
	for _, block := range []int{1, 32, 100, 1024} {
		const blocks = 5
		x := make([]uint32, blocks*block)
		for i := range x {
			x[i] = s.random.Uint32()
		}
		b := s.alloc(gpu.Uint32, len(x), x)
		s.ok(s.run(gpu.Launch{Entry: s.entry("reverse"), Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}, Shared: 4 * block, Args: []any{b}}))
		y := make([]uint32, len(x))
		s.ok(b.Download(y))
		for i := 0; i < len(x); i += block {
			slices.Reverse(x[i : i+block])
		}
		if !slices.Equal(x, y) {
			t.Errorf("block of %d: not reversed (seed %d)", block, seed)
		}
	}
	most := s.device.Info().SharedPerBlockMax
	b := s.alloc(gpu.Uint32, 32, make([]uint32, 32))
	s.ok(s.run(gpu.Launch{Entry: s.entry("reverse"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}, Shared: most, Args: []any{b}}))
	// Static and dynamic memory that are more than 48 KiB only together.
	for _, shared := range []int{8192, 8193, most - 40960} {
		s.ok(s.run(gpu.Launch{Entry: s.entry("static40k"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Shared: shared, Args: []any{b}}))
	}
}

func testStaticShared(t *testing.T, s *suite) {
	e := s.entry("static40k")
	if a := e.Attributes(); a.SharedBytes != 40960 {
		t.Errorf("%d bytes of static shared memory, expected 40960", a.SharedBytes)
	}
	b := s.alloc(gpu.Uint32, 1, nil)
	s.ok(s.run(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{b}}))
	y := make([]uint32, 1)
	s.ok(b.Download(y))
	if y[0] != 7 {
		t.Errorf("%d came back from shared memory, expected 7", y[0])
	}
}

func testGlobals(t *testing.T, s *suite) {
	count, err := s.module.Global("count")
	s.ok(err)
	if count.Type() != gpu.Uint8 || count.Len() != 4 {
		t.Errorf("variable of %d %v, expected 4 uint8", count.Len(), count.Type())
	}
	y := s.alloc(gpu.Float32, 64, make([]float32, 64))
	l := gpu.Launch{Entry: s.entry("counting"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 64}, Args: []any{y}}
	s.ok(s.run(l))
	raw := make([]byte, 4)
	s.ok(count.Download(raw))
	if raw[0] != 5+64 {
		t.Errorf("count is %d, expected 69", raw[0])
	}
	s.ok(count.Upload([]byte{1, 0, 0, 0}))
	s.ok(s.run(l))
	s.ok(count.Download(raw))
	if raw[0] != 65 {
		t.Errorf("count is %d, expected 65", raw[0])
	}
	got := make([]float32, 64)
	s.ok(y.Download(got))
	for i, v := range got {
		if want := float32(2 * (1 + i%3)); v != want {
			t.Fatalf("y[%d] = %v, expected %v", i, v, want)
		}
	}
	s.is(count.Free(), gpu.ErrArgument, "free of a variable")
	_, err = s.module.Global("coumt")
	s.is(err, gpu.ErrNotFound, "an unknown variable")
	if err != nil && !strings.Contains(err.Error(), "count") {
		t.Errorf("%v, expected it to name count", err)
	}
}

func testZero(t *testing.T, s *suite) {
	x := s.alloc(gpu.Float32, 10, s.floats(10))
	y := s.alloc(gpu.Float32, 20, s.floats(20))
	l := s.scale(x, y, 1, 10)
	l.Zero = []gpu.Buffer{x, y}
	s.ok(s.run(l))
	got := make([]float32, 20)
	s.ok(y.Download(got))
	if !slices.Equal(got, make([]float32, 20)) {
		t.Errorf("%v, expected zeros: the buffers are set to 0 before the entry runs", got)
	}
}

// testUnwritten checks that a launch keeps the elements that it does not write.
func testUnwritten(t *testing.T, s *suite) {
	poison := make([]float32, 200)
	for i := range poison {
		poison[i] = -float32(i)
	}
	x, y := s.alloc(gpu.Float32, 200, s.floats(200)), s.alloc(gpu.Float32, 200, poison)
	s.ok(s.run(s.scale(x, y, 1, 130)))
	got := make([]float32, 200)
	s.ok(y.Download(got))
	if !slices.Equal(got[130:], poison[130:]) {
		t.Error("elements changed that no thread wrote")
	}
}

func testArgumentErrors(t *testing.T, s *suite) {
	x, y := s.alloc(gpu.Float32, 4, s.floats(4)), s.alloc(gpu.Float32, 4, s.floats(4))
	freed := s.alloc(gpu.Float32, 4, nil)
	s.ok(freed.Free())
	other, err := s.open()
	s.ok(err)
	defer other.Close()
	foreign, err := other.Alloc(gpu.Float32, 4)
	s.ok(err)
	for _, c := range []struct {
		name string
		args []any
		kind error
		says []string
	}{
		{"too few", []any{x, y, float32(1)}, gpu.ErrArgument, []string{"3 arguments", "expected 4"}},
		{"too many", []any{x, y, float32(1), uint32(4), uint32(4)}, gpu.ErrArgument, []string{"5 arguments", "expected 4"}},
		{"int", []any{x, y, float32(1), 4}, gpu.ErrArgument, []string{"argument 3, n", "int32(n)"}},
		{"int for a float", []any{x, y, 1, uint32(4)}, gpu.ErrArgument, []string{"argument 2, a", "float32(n)"}},
		{"float64 for float32", []any{x, y, 1.0, uint32(4)}, gpu.ErrArgument, []string{"argument 2, a", "float64", "float32"}},
		{"int32 for float32", []any{x, y, int32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 2, a", "int32", "float32"}},
		{"float32 for int32", []any{x, y, float32(1), float32(4)}, gpu.ErrArgument, []string{"argument 3, n", "float32"}},
		{"int64 for int32", []any{x, y, float32(1), int64(4)}, gpu.ErrArgument, []string{"argument 3, n", "8 bytes"}},
		{"a buffer for a number", []any{x, y, float32(1), y}, gpu.ErrArgument, []string{"argument 3, n", "buffer"}},
		{"a number for a buffer", []any{x, int32(0), float32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 1, y", "buffer"}},
		{"nil", []any{nil, y, float32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 0, x", "nil"}},
		{"a string", []any{"x", y, float32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 0, x", "string"}},
		{"a slice", []any{[]float32{1}, y, float32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 0, x", "[]float32"}},
		{"a freed buffer", []any{freed, y, float32(1), uint32(4)}, gpu.ErrClosed, []string{"argument 0, x"}},
		{"another device's", []any{foreign, y, float32(1), uint32(4)}, gpu.ErrArgument, []string{"argument 0, x", "another device"}},
	} {
		l := s.scale(x, y, 1, 4)
		l.Args = c.args
		s.refused(l, c.kind, c.name, append(c.says, "scale")...)
	}
	l := s.scale(x, y, 1, 4)
	l.Zero = []gpu.Buffer{freed}
	s.refused(l, gpu.ErrClosed, "zero of a freed buffer", "scale")
	s.refused(gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}}, gpu.ErrArgument, "no entry")
	s.ok(s.run(s.scale(x, y, 1, 4)))
}

// refused checks that a launch is an error of a kind with certain words.
func (s *suite) refused(l gpu.Launch, kind error, what string, says ...string) {
	s.Helper()
	err := s.device.Launch(l)
	s.is(err, kind, what)
	for _, word := range says {
		if err != nil && !strings.Contains(err.Error(), word) {
			s.Errorf("%s: %q, expected it to say %q", what, err, word)
		}
	}
}

func testShapeErrors(t *testing.T, s *suite) {
	x, y := s.alloc(gpu.Float32, 4, s.floats(4)), s.alloc(gpu.Float32, 4, s.floats(4))
	info := s.device.Info()
	for _, c := range []struct {
		grid, block gpu.Dim
		shared      int
	}{
		{gpu.Dim{}, gpu.Dim{X: 1}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{}, 0},
		{gpu.Dim{X: -1}, gpu.Dim{X: 1}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{X: 1, Y: -1}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{X: 1025}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{X: 32, Y: 33}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{X: 1, Y: 1, Z: 65}, 0},
		{gpu.Dim{X: 1 << 31}, gpu.Dim{X: 1}, 0},
		{gpu.Dim{X: 1, Y: 65536}, gpu.Dim{X: 1}, 0},
		{gpu.Dim{X: 1, Z: 65536}, gpu.Dim{X: 1}, 0},
		{gpu.Dim{X: 1}, gpu.Dim{X: 1}, -1},
		{gpu.Dim{X: 1}, gpu.Dim{X: 1}, info.SharedPerBlockMax + 1},
	} {
		l := s.scale(x, y, 1, 4)
		l.Grid, l.Block, l.Shared = c.grid, c.block, c.shared
		s.refused(l, gpu.ErrShape, fmt.Sprint(c), "scale")
	}
	none := gpu.Launch{Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 32}}
	none.Entry = s.entry("exactly64")
	s.refused(none, gpu.ErrShape, "32 threads for .reqntid 64", "64", ".reqntid")
	none.Block.X = 64
	s.ok(s.run(none))
	none.Entry = s.entry("atmost32")
	s.refused(none, gpu.ErrShape, "64 threads for .maxntid 32", "32", ".maxntid")
	static := gpu.Launch{Entry: s.entry("static40k"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{x}, Shared: info.SharedPerBlockMax - 40960 + 1}
	s.refused(static, gpu.ErrShape, "static and dynamic shared memory", "40960")
	if a := s.entry("atmost32").Attributes(); a.MaxThreads != 32 {
		t.Errorf(".maxntid 32 is %d", a.MaxThreads)
	}
}

func testModuleErrors(t *testing.T, s *suite) {
	_, err := s.module.Entry("scalf")
	s.is(err, gpu.ErrNotFound, "an unknown entry")
	if err != nil && !strings.Contains(err.Error(), "scale") {
		t.Errorf("%v, expected it to name scale", err)
	}
	if names := s.module.Entries(); !slices.Contains(names, "scale") || !slices.Contains(names, "endless") {
		t.Errorf("entries %v", names)
	}
	_, err = s.device.Load("bad.ptx", strings.Replace(source, "ret;", "ret", 1))
	s.is(err, gpu.ErrMalformed, "PTX without a semicolon")
	if err != nil && !strings.Contains(err.Error(), "bad.ptx") {
		t.Errorf("%v, expected it to name the file", err)
	}
	_, err = s.device.Load("empty.ptx", "")
	s.is(err, gpu.ErrMalformed, "no PTX")
	_, err = s.device.Load("new.ptx", strings.Replace(source, ".version 6.4", ".version 99.0", 1))
	s.is(err, gpu.ErrUnsupported, "PTX of a later version")
	_, err = s.device.Load("target.ptx", strings.Replace(source, "sm_75", "sm_999", 1))
	s.is(err, gpu.ErrUnsupported, "PTX for a later GPU")
	x := s.alloc(gpu.Float32, 4, s.floats(4))
	l := s.scale(x, x, 1, 4)
	s.ok(s.module.Close())
	s.is(s.device.Launch(l), gpu.ErrClosed, "launch of an entry of a closed module")
	_, err = s.module.Entry("scale")
	s.is(err, gpu.ErrClosed, "entry of a closed module")
	s.is(s.module.Close(), gpu.ErrClosed, "second close of a module")
}
