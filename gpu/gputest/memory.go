package gputest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"warpbook/gpu"
)

var types = []gpu.Type{
	gpu.Int8, gpu.Uint8, gpu.Int16, gpu.Uint16, gpu.Int32, gpu.Uint32, gpu.Int64, gpu.Uint64,
	gpu.Float16, gpu.BFloat16, gpu.Float32, gpu.Float64,
}

// randomSlice is a slice of a type with random bytes, and these bytes.
func (s *suite) randomSlice(t gpu.Type, n int) (slice any, raw []byte) {
	s.Helper()
	slice = gpu.NewSlice(t, n)
	raw, err := gpu.SliceBytes(slice, t, n)
	s.ok(err)
	for i := range raw {
		raw[i] = byte(s.random.Uint32())
	}
	return slice, raw
}

func testInfo(t *testing.T, s *suite) {
	i := s.device.Info()
	if i.Name == "" || i.Compute.Major < 7 || i.SMs < 1 || i.GlobalBytes < 1<<28 || i.SharedPerBlock < 48<<10 ||
		i.ThreadsPerBlock != 1024 || i.MaxGrid.X != 1<<31-1 || i.PTX.Major < 6 {
		t.Errorf("info %+v", i)
	}
	if i.Emulated != (i.Driver == "") {
		t.Errorf("emulated %v with driver %q", i.Emulated, i.Driver)
	}
}

func testRoundTrip(t *testing.T, s *suite) {
	for _, typ := range types {
		for _, n := range []int{0, 1, 31, 1000} {
			slice, raw := s.randomSlice(typ, n)
			b := s.alloc(typ, n, slice)
			if b.Type() != typ || b.Len() != n {
				t.Errorf("%v %d: buffer of %d %v", typ, n, b.Len(), b.Type())
			}
			back := gpu.NewSlice(typ, n)
			s.ok(b.Download(back))
			got, err := gpu.SliceBytes(back, typ, n)
			s.ok(err)
			if !bytes.Equal(got, raw) {
				t.Errorf("%v %d: other bytes came back (seed %d)", typ, n, seed)
			}
			s.ok(b.Free())
		}
	}
}

func testView(t *testing.T, s *suite) {
	x := s.floats(100)
	b := s.alloc(gpu.Float32, 100, x)
	v, err := b.View(10, 50)
	s.ok(err)
	w, err := v.View(5, 3)
	s.ok(err)
	got := make([]float32, 3)
	s.ok(w.Download(got))
	if !slices.Equal(got, x[15:18]) {
		t.Errorf("view of a view: %v, expected %v (seed %d)", got, x[15:18], seed)
	}
	s.ok(w.Upload([]float32{1, 2, 3}))
	all := make([]float32, 100)
	s.ok(b.Download(all))
	copy(x[15:], []float32{1, 2, 3})
	if !slices.Equal(all, x) {
		t.Errorf("a write through a view is not in the buffer, or elsewhere too")
	}
	for _, c := range [][2]int{{-1, 1}, {0, -1}, {0, 101}, {100, 1}, {101, 0}, {1 << 62, 1 << 62}} {
		_, err := b.View(c[0], c[1])
		s.is(err, gpu.ErrArgument, fmt.Sprintf("view %v", c))
	}
	_, err = b.View(100, 0)
	s.ok(err)
	s.is(v.Free(), gpu.ErrArgument, "free of a view")
	s.ok(b.Free())
	s.is(v.Download(make([]float32, 50)), gpu.ErrClosed, "download of a view of a freed buffer")
}

func testPlace(t *testing.T, s *suite) {
	place := func(b gpu.Buffer, start, n int) gpu.Place {
		t.Helper()
		v, err := b.View(start, n)
		s.ok(err)
		p, err := v.Place()
		s.ok(err)
		if p.Device != s.device || p.Bytes != 4*int64(n) {
			t.Errorf("%d elements from %d on are %d bytes of %v, expected %d of this device", n, start, p.Bytes, p.Device, 4*n)
		}
		return p
	}
	a, b := s.alloc(gpu.Float32, 100, nil), s.alloc(gpu.Float32, 100, nil)
	if from := place(a, 30, 10).Start - place(a, 0, 100).Start; from != 120 {
		t.Errorf("element 30 is at byte %d, expected 120", from)
	}
	for _, c := range []struct {
		x, y gpu.Place
		want bool
	}{
		{place(a, 0, 100), place(a, 0, 100), true}, {place(a, 0, 11), place(a, 10, 5), true}, {place(a, 10, 1), place(a, 0, 100), true},
		{place(a, 0, 10), place(a, 10, 5), false}, {place(a, 10, 0), place(a, 0, 100), false}, {place(a, 0, 100), place(b, 0, 100), false},
	} {
		if c.x.Overlaps(c.y) != c.want || c.y.Overlaps(c.x) != c.want {
			t.Errorf("%+v and %+v overlap: %v, expected %v", c.x, c.y, !c.want, c.want)
		}
	}
	v, err := a.View(1, 2)
	s.ok(err)
	s.ok(a.Free())
	_, err = v.Place()
	s.is(err, gpu.ErrClosed, "place of a view of a freed buffer")
}

func testCopy(t *testing.T, s *suite) {
	x := s.floats(1000)
	a, b := s.alloc(gpu.Float32, 1000, x), s.alloc(gpu.Float32, 1000, nil)
	s.ok(s.device.Copy(b, a))
	s.ok(s.device.Sync())
	got := make([]float32, 1000)
	s.ok(b.Download(got))
	if !slices.Equal(got, x) {
		t.Errorf("the copy differs (seed %d)", seed)
	}
	s.ok(s.device.Zero(a))
	s.ok(a.Download(got))
	if !slices.Equal(got, make([]float32, 1000)) {
		t.Errorf("a buffer set to zero is not")
	}
	short, other := s.alloc(gpu.Float32, 999, nil), s.alloc(gpu.Uint32, 1000, nil)
	s.is(s.device.Copy(short, b), gpu.ErrArgument, "copy to a shorter buffer")
	s.is(s.device.Copy(other, b), gpu.ErrArgument, "copy to another type")
	s.is(s.device.Copy(nil, b), gpu.ErrArgument, "copy to nil")
	half, err := b.View(0, 500)
	s.ok(err)
	rest, err := b.View(500, 500)
	s.ok(err)
	s.ok(s.device.Copy(half, rest))
	s.ok(s.device.Sync())
	s.ok(b.Download(got))
	if !slices.Equal(got[:500], x[500:]) {
		t.Errorf("the copy between views differs (seed %d)", seed)
	}
}

func testHost(t *testing.T, s *suite) {
	for _, typ := range types {
		h, err := s.device.AllocHost(typ, 100)
		s.ok(err)
		if h.Type() != typ || h.Len() != 100 {
			t.Errorf("host memory of %d %v, expected 100 %v", h.Len(), h.Type(), typ)
		}
		_, raw := s.randomSlice(typ, 100)
		mine, err := gpu.SliceBytes(h.Slice(), typ, 100)
		s.ok(err)
		copy(mine, raw)
		b := s.alloc(typ, 100, nil)
		s.ok(s.device.Copy(b, h))
		s.ok(s.device.Sync())
		clear(mine)
		s.ok(s.device.Copy(h, b))
		s.ok(s.device.Sync())
		if !bytes.Equal(mine, raw) {
			t.Errorf("%v: other bytes came back (seed %d)", typ, seed)
		}
		s.ok(h.Free())
		s.is(h.Free(), gpu.ErrClosed, "second free of host memory")
		s.is(s.device.Copy(b, h), gpu.ErrClosed, "copy from freed host memory")
	}
	other, err := s.open()
	s.ok(err)
	defer other.Close()
	foreign, err := other.AllocHost(gpu.Float32, 4)
	s.ok(err)
	s.is(s.device.Copy(s.alloc(gpu.Float32, 4, nil), foreign), gpu.ErrArgument, "copy from another device's host memory")
}

func testMemoryErrors(t *testing.T, s *suite) {
	_, err := s.device.Alloc(gpu.Float32, -1)
	s.is(err, gpu.ErrArgument, "alloc of -1")
	_, err = s.device.Alloc(gpu.Invalid, 1)
	s.is(err, gpu.ErrArgument, "alloc of no type")
	_, err = s.device.Alloc(gpu.Type(200), 1)
	s.is(err, gpu.ErrArgument, "alloc of an unknown type")
	_, err = s.device.AllocHost(gpu.Float32, -1)
	s.is(err, gpu.ErrArgument, "alloc host of -1")
	_, err = s.device.Alloc(gpu.Float64, int(s.device.Info().GlobalBytes/8)+1)
	s.is(err, gpu.ErrMemory, "alloc of more than there is")
	b := s.alloc(gpu.Float32, 10, s.floats(10))
	s.is(b.Upload(make([]float32, 9)), gpu.ErrArgument, "upload of a short slice")
	s.is(b.Upload(make([]float64, 10)), gpu.ErrArgument, "upload of another type")
	s.is(b.Upload([10]float32{}), gpu.ErrArgument, "upload of an array")
	s.is(b.Upload(nil), gpu.ErrArgument, "upload of nil")
	s.is(b.Download(make([]float32, 11)), gpu.ErrArgument, "download to a long slice")
	if b.Label("input") != b {
		t.Error("label does not return the buffer")
	}
	s.ok(b.Free())
	s.is(b.Free(), gpu.ErrClosed, "second free")
	s.is(b.Upload(make([]float32, 10)), gpu.ErrClosed, "upload to a freed buffer")
	s.is(b.Download(make([]float32, 10)), gpu.ErrClosed, "download of a freed buffer")
	s.is(s.device.Zero(b), gpu.ErrClosed, "zero of a freed buffer")
	_, err = b.View(0, 1)
	s.is(err, gpu.ErrClosed, "view of a freed buffer")
	_, raw := s.randomSlice(gpu.Uint8, 4)
	if c := s.alloc(gpu.Uint8, 4, slices.Clone(raw)); c == nil {
		t.Error("no buffer after errors")
	}
}
