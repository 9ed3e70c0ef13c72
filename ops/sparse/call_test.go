package sparse

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/ladder"
	"warpbook/ops/run"
)

// Products of matrices with different numbers of entries, of an empty one and of one
// without rows have the entries of the reference, and go to COO and back.
func TestTimesSparse(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev gpu.Device) {
		h := run.NewHandle(dev)
		defer h.Close()
		random := ladder.NewRandom(5)
		for _, c := range []struct{ n, a, b int }{{0, 0, 0}, {1, 1, 1}, {5, 0, 9}, {5, 9, 0}, {40, 100, 333}, {100, 700, 50}} {
			x, y := matrices[1].make(nil, c.n, c.n, c.a, random), matrices[1].make(nil, c.n, c.n, c.b, random)
			offsets, columns, want := multiply(nil, x, y)
			a, b := uploaded(t, dev, x), uploaded(t, dev, y)
			p, err := a.TimesSparse(h, b)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			got, err := p.Download()
			if err != nil || !slices.Equal(got.Offsets, offsets) || !slices.Equal(got.Index, columns) {
				t.Errorf("%+v: %v %v, %v, expected %v %v", c, got.Offsets, got.Index, err, offsets, columns)
			}
			for i, v := range got.Values {
				if d := float64(v) - want.Value[i]; d > 1e-5*want.Magnitude[i] || -d > 1e-5*want.Magnitude[i] {
					t.Errorf("%+v: value %d is %v, expected %v", c, i, v, want.Value[i])
				}
			}
			row := gpu.MustUpload(dev, make([]int32, p.NNZ))
			if err := p.ToCOO(h, row); err != nil {
				t.Error(err)
			}
			again, err := OfCOO(h, c.n, c.n, row, p.Index, p.Values)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			if back, err := again.Download(); err != nil || !slices.Equal(back.Offsets, offsets) {
				t.Errorf("%+v: %v, %v, expected %v", c, back.Offsets, err, offsets)
			}
			if err := errors.Join(again.Offsets.Free(), p.Close(), row.Free()); err != nil { // columns and values are those of p
				t.Error(err)
			}
		}
	})
}

func uploaded(t *testing.T, dev gpu.Device, m CSR) *Matrix {
	t.Helper()
	a, err := Upload(dev, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Bad operands are one line, and launch nothing.
func TestSparseOperands(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev gpu.Device) {
		h := run.NewHandle(dev)
		defer h.Close()
		a := uploaded(t, dev, CSR{2, 2, []int32{0, 1, 2}, []int32{1, 0}, []float32{1, 2}})
		b := uploaded(t, dev, CSR{3, 2, []int32{0, 0, 0, 0}, []int32{}, []float32{}})
		floats, falling := gpu.MustUpload(dev, []float32{1, 2}), gpu.MustUpload(dev, []int32{1, 0})
		fail := func(_ *Matrix, err error) error { return err }
		for want, err := range map[string]error{
			"2 x 2 times 3 x 2: invalid argument, expected two square matrices": fail(a.TimesSparse(h, b)),
			"2 x 2 times no matrix":                                      fail(a.TimesSparse(h, nil)),
			"row: invalid argument, expected a":                          fail(OfCOO(h, 2, 2, floats, a.Index, a.Values)),
			"row[1] = 0: invalid argument, expec":                        fail(OfCOO(h, 2, 2, falling, a.Index, a.Values)),
			"row[0] = 1: invalid argument, expec":                        fail(OfCOO(h, 1, 2, gpu.MustUpload(dev, []int32{1, 1}), a.Index, a.Values)),
			"rows = -1":                                                  fail(OfCOO(h, -1, 2, falling, a.Index, a.Values)),
			"1 columns, 2 values":                                        fail(OfCOO(h, 2, 2, gpu.MustUpload(dev, []int32{0, 1}), gpu.MustUpload(dev, []int32{0}), a.Values)),
			"row: invalid argument: a buffer of float32, expected int32": a.ToCOO(h, floats),
		} {
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, expected a line with %q", err, want)
			}
		}
	})
}
