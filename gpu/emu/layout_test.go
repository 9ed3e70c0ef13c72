package emu

import (
	"errors"
	"strings"
	"testing"

	"warpbook/gpu"
)

// layoutPTX reads a texture at fractions of its width and height.
const layoutPTX = `.version 7.0
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 out, .param .u64 texture, .param .f32 x, .param .f32 y) {
  .reg .b64 %rd<3>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [texture];
  ld.param.f32 %f1, [x];
  ld.param.f32 %f2, [y];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}];
  st.global.f32 [%rd1], %f3;
  ret;
}
`

// A texture of memory with a pitch has an address mode for each direction.
func TestLayout(t *testing.T) {
	dev, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	d := dev.(*Device)
	m, err := d.Load("layout.ptx", layoutPTX)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("sample")
	if err != nil {
		t.Fatal(err)
	}
	out, err1 := d.Alloc(gpu.Float32, 1)
	rows, err2 := d.Alloc(gpu.Float32, 3*8)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	values := make([]float32, 3*8) // three rows of 4, with a pitch of 8
	for i := range values {
		values[i] = float32(i)
	}
	if err := rows.Upload(values); err != nil {
		t.Fatal(err)
	}
	l := Layout{Shape: gpu.ArrayShape{Type: gpu.Float32, Channels: 1, Width: 4, Height: 3}, Pitch: 32, Addresses: []gpu.Address{gpu.AddressWrap, gpu.AddressBorder, gpu.AddressClamp}}
	o, number, err := d.NewObject(rows, l, gpu.Texture{Normalised: true, Border: [4]float32{-1}})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[[2]float32]float32{{0.125, 0.5}: 8, {0.9, 0.9}: 19, {1.125, 0.5}: 8, {0.125, 1.5}: -1, {0.125, -0.5}: -1} {
		err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: []any{out, number, at[0], at[1]}})
		got := make([]float32, 1)
		if err := errors.Join(err, out.Download(got)); err != nil || got[0] != want {
			t.Errorf("at %v: %v, %v, expected %v", at, got[0], err, want)
		}
	}
	if err := o.Free(); err != nil {
		t.Error(err)
	}
	l.Pitch = 64
	if _, _, err := d.NewObject(rows, l, gpu.Texture{}); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "96 bytes of memory, expected at least 144") {
		t.Errorf("%v, expected too little memory", err)
	}
}
