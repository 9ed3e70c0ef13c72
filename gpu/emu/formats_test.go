package emu

import (
	"bytes"
	"math"
	"os"
	"testing"

	"warpbook/gpu"
)

// TestFormats compares with the output of printf on an H200.
func TestFormats(t *testing.T) {
	text, err := os.ReadFile("testdata/formats.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/formats.h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	d, e := loadEntry(t, string(text), "formats")
	var out bytes.Buffer
	d.SetOutput(&out)
	inf, nan := math.Inf(1), math.Float64frombits(0xfff8000000000000)
	var args []any
	for _, v := range []any{
		[]int32{42, -42, 0, 7, 0, 48879, 70000, 'q', 6, 2, -5},
		[]int64{-1234567890123, -1},
		[]float64{3.14159265358979, 2.5, -1.5, 12345.678, 0.00012, 1e100, 100000, 1000000, 0.0001, 0.00001, inf, -inf, nan, -nan, math.Copysign(0, -1)},
	} {
		b, err := upload(d, v)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, b)
	}
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: 1}, Args: args}); err != nil {
		t.Fatal(err)
	}
	got, lines := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || !bytes.Equal(got[i], lines[i]) {
			t.Errorf("line %d: %q, expected %q", i+1, at(got, i), at(lines, i))
		}
	}
}

// at is a line, or "" after the last.
func at(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

// upload makes a buffer of a slice.
func upload(d gpu.Device, slice any) (gpu.Buffer, error) {
	var b gpu.Buffer
	var err error
	switch s := slice.(type) {
	case []int32:
		b, err = d.Alloc(gpu.Int32, len(s))
	case []int64:
		b, err = d.Alloc(gpu.Int64, len(s))
	case []float64:
		b, err = d.Alloc(gpu.Float64, len(s))
	}
	if err != nil {
		return nil, err
	}
	return b, b.Upload(slice)
}
