package gputest

import (
	"math"
	"testing"

	"warpbook/gpu"
)

// textureSource reads a texture in two directions and in one, by the numbers of threads
// plus an offset, and increments a surface of uint32.
const textureSource = `.version 6.4
.target sm_75
.address_size 64
.visible .entry flat(.param .u64 y, .param .u64 t, .param .f32 x0, .param .f32 y0)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<5>;
	.reg .f32 %f<8>;
	ld.param.u64 %rd0, [y];
	ld.param.u64 %rd1, [t];
	ld.param.f32 %f0, [x0];
	ld.param.f32 %f1, [y0];
	mov.u32 %r0, %tid.x;
	cvt.rn.f32.u32 %f2, %r0;
	add.f32 %f2, %f2, %f0;
	tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f2, %f1}];
	mul.wide.u32 %rd2, %r0, 4;
	add.u64 %rd3, %rd0, %rd2;
	st.global.f32 [%rd3], %f4;
	ret;
}
.visible .entry line(.param .u64 y, .param .u64 t)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd0, [y];
	ld.param.u64 %rd1, [t];
	mov.u32 %r0, %tid.x;
	sub.s32 %r1, %r0, 1;
	tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];
	mul.wide.u32 %rd2, %r0, 4;
	add.u64 %rd3, %rd0, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}
.visible .entry increment(.param .u64 s)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [s];
	mov.u32 %r0, %tid.x;
	mul.lo.u32 %r0, %r0, 4;
	mov.u32 %r1, 1;
	suld.b.2d.b32.zero {%r2}, [%rd0, {%r0, %r1}];
	add.u32 %r2, %r2, 1;
	sust.b.2d.b32.zero [%rd0, {%r0, %r1}], {%r2};
	ret;
}
`

// testTextures reads an array and a buffer through texture objects.
func testTextures(t *testing.T, s *suite) {
	m, err := s.device.Load("texture.ptx", textureSource)
	s.ok(err)
	flat, err := m.Entry("flat")
	s.ok(err)
	const width, height, threads = 6, 3, 8
	a, err := s.device.AllocArray(gpu.ArrayShape{Type: gpu.Float32, Channels: 1, Width: width, Height: height})
	s.ok(err)
	data := make([]float32, width*height)
	for i := range data {
		data[i] = float32(i * i)
	}
	s.ok(a.Upload(data))
	back := make([]float32, width*height)
	s.ok(a.Download(back))
	for i, v := range back {
		if v != data[i] {
			t.Errorf("element %d of the array comes back as %v, expected %v", i, v, data[i])
		}
	}
	y := s.alloc(gpu.Float32, threads, nil)
	at := func(col, row int) float64 {
		return float64(data[min(max(row, 0), height-1)*width+min(max(col, 0), width-1)])
	}
	for _, c := range []struct {
		texture gpu.Texture
		x, y    float32
		want    func(i int) float64
	}{
		{gpu.Texture{}, -0.75, 1.5, func(i int) float64 { return at(i-1, 1) }},
		{gpu.Texture{Filter: gpu.FilterLinear}, 0.75, 1.5, func(i int) float64 { return 0.75*at(i, 1) + 0.25*at(i+1, 1) }},
		{gpu.Texture{Filter: gpu.FilterLinear}, 0, 1, func(i int) float64 {
			return (at(i-1, 0) + at(i, 0) + at(i-1, 1) + at(i, 1)) / 4
		}},
		{gpu.Texture{Address: gpu.AddressBorder, Border: [4]float32{-3}}, 0, 2, func(i int) float64 {
			if i >= width {
				return -3
			}
			return at(i, 2)
		}},
		{gpu.Texture{Address: gpu.AddressWrap, Normalised: true}, 0.25, 0.5, func(int) float64 { return at(1, 1) }},
	} {
		c.texture.Array = a
		o, err := s.device.NewTexture(c.texture)
		s.ok(err)
		s.ok(s.run(gpu.Launch{Entry: flat, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: threads}, Args: []any{y, o, c.x, c.y}}))
		got := make([]float32, threads)
		s.ok(y.Download(got))
		for i, v := range got {
			if want := c.want(i); math.Abs(float64(v)-want) > 1e-5*math.Abs(want) {
				t.Errorf("%+v, thread %d: %v, expected %v", c.texture, i, v, want)
			}
		}
		s.ok(o.Free())
		s.is(s.device.Launch(gpu.Launch{Entry: flat, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: threads}, Args: []any{y, o, c.x, c.y}}), gpu.ErrClosed, "launch with a freed object")
		s.is(o.Free(), gpu.ErrClosed, "second free of an object")
	}
	pairs := s.alloc(gpu.Uint8, 12, []uint8{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15})
	o, err := s.device.NewTexture(gpu.Texture{Buffer: pairs, Channels: 2})
	s.ok(err)
	line, err := m.Entry("line")
	s.ok(err)
	z := s.alloc(gpu.Uint32, threads, nil)
	s.ok(s.run(gpu.Launch{Entry: line, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: threads}, Args: []any{z, o}}))
	got := make([]uint32, threads)
	s.ok(z.Download(got))
	for i, want := range []uint32{0, 10, 11, 12, 13, 14, 15, 0} {
		if got[i] != want {
			t.Errorf("second channel of element %d of a buffer: %d, expected %d", i-1, got[i], want)
		}
	}
	s.ok(o.Free())
	s.ok(a.Free())
	s.is(a.Upload(data), gpu.ErrClosed, "upload to a freed array")
}

// testSurfaces writes an array through a surface object.
func testSurfaces(t *testing.T, s *suite) {
	m, err := s.device.Load("texture.ptx", textureSource)
	s.ok(err)
	e, err := m.Entry("increment")
	s.ok(err)
	a, err := s.device.AllocArray(gpu.ArrayShape{Type: gpu.Uint32, Channels: 1, Width: 3, Height: 2, Surface: true})
	s.ok(err)
	o, err := s.device.NewSurface(a)
	s.ok(err)
	l := gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 8}, Args: []any{o}}
	s.ok(s.run(l))
	s.ok(s.run(l))
	got := make([]uint32, 6)
	s.ok(a.Download(got))
	for i, want := range []uint32{0, 0, 0, 2, 2, 2} {
		if got[i] != want {
			t.Errorf("element %d of the surface is %d, expected %d", i, got[i], want)
		}
	}
	s.ok(o.Free())
	s.ok(a.Free())
}

// testTextureErrors: what no device makes is refused by name.
func testTextureErrors(t *testing.T, s *suite) {
	a, err := s.device.AllocArray(gpu.ArrayShape{Type: gpu.Uint8, Channels: 1, Width: 4})
	s.ok(err)
	b := s.alloc(gpu.Float32, 4, nil)
	for _, shape := range []gpu.ArrayShape{{Type: gpu.Float64, Channels: 1, Width: 4}, {Type: gpu.Uint8, Channels: 3, Width: 4}, {Type: gpu.Uint8, Channels: 1},
		{Type: gpu.Uint8, Channels: 1, Width: 1 << 18}, {Type: gpu.Uint8, Channels: 1, Width: 4, Depth: 2}, {Type: gpu.Uint8, Channels: 1, Width: 4, Layers: 4096}} {
		_, err := s.device.AllocArray(shape)
		s.is(err, gpu.ErrArgument, "array")
	}
	for _, texture := range []gpu.Texture{{}, {Array: a, Buffer: b}, {Array: a, Filter: gpu.FilterLinear}, {Array: a, Address: gpu.AddressWrap},
		{Buffer: b}, {Buffer: b, Channels: 1, Normalised: true}, {Buffer: b, Channels: 1, Scaled: true}} {
		_, err := s.device.NewTexture(texture)
		s.is(err, gpu.ErrArgument, "texture")
	}
	_, err = s.device.NewSurface(a)
	s.is(err, gpu.ErrArgument, "surface of an array without")
	o, err := s.device.NewTexture(gpu.Texture{Array: a})
	s.ok(err)
	s.is(s.device.Launch(gpu.Launch{Entry: s.entry("scale"), Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{b, b, o, uint32(1)}}), gpu.ErrArgument, "an object for a float")
	s.ok(o.Free())
	s.ok(a.Free())
}
