package programs

import (
	"math"
	"strings"
	"testing"
)

// limit is the allowed distance of a GPU's function from the correctly rounded one: in
// units of the last place, or absolute or relative, for operands up to a size.
type limit struct {
	name               string // of the instruction, from its start
	to                 float64
	ulp                uint64
	absolute, relative float64
}

// limits are the bounds that an H200 keeps over all floats (testdata/approximate.cu of
// gpu/emu), or the manual's for functions without a sweep. The first match counts.
var limits = []limit{
	{name: "rcp.approx.ftz.f64", relative: 0x1p-20}, {name: "rsqrt.approx.ftz.f64", relative: 0x1p-20},
	{name: "rcp", ulp: 1}, {name: "sqrt", ulp: 1}, {name: "rsqrt", ulp: 2}, {name: "ex2", ulp: 2}, {name: "div", ulp: 2},
	{name: "lg2", ulp: 2, absolute: 0x1p-22},
	{name: "sin", to: math.Pi, absolute: 3.5e-7}, {name: "sin", to: 100 * math.Pi, absolute: 3.7e-5},
	{name: "cos", to: math.Pi, absolute: 4.1e-7}, {name: "cos", to: 100 * math.Pi, absolute: 3.7e-5},
	{name: "tanh.approx.f32", absolute: 8e-6}, {name: "tanh", ulp: 1},
}

// TestApproximate compares the emulator's correctly rounded results with the
// approximations of an H200.
func TestApproximate(t *testing.T) {
	golden := readResults(t, approximateFile)
	for name, d := range devices(t) {
		compared := 0
		for _, p := range All() {
			if !p.Approximate {
				continue
			}
			got, err := run(d, &p)
			if err != nil {
				t.Errorf("%s: %v", p.Name, err)
				continue
			}
			if len(golden[p.Name]) != len(got) {
				t.Errorf("%s has no results of a GPU", p.Name)
				continue
			}
			for i := range p.Rows {
				compared += approximateRow(t, name, &p, i, row(got, &p, i), row(golden[p.Name], &p, i))
			}
		}
		if compared == 0 {
			t.Error("nothing was compared")
		}
	}
}

// approximateRow compares the values with a known limit, and returns their number.
func approximateRow(t *testing.T, device string, p *Program, i int, got, want []uint64) (compared int) {
	t.Helper()
	typ := floatType(p.Rows[i])
	for k := range got {
		a := math.Abs(valueOf(p.In[k], typ))
		l, ok := limitOf(p.Rows[i], a)
		if !ok {
			continue
		}
		compared++
		if v, w := valueOf(got[k], typ), valueOf(want[k], typ); !l.keeps(got[k], want[k], v, w) {
			t.Errorf("%s, %s of %#x: %v (%#x), an H200 %v (%#x)", device, p.Rows[i], p.In[k], v, got[k], w, want[k])
			return compared
		}
	}
	return compared
}

func limitOf(row string, a float64) (limit, bool) {
	for _, l := range limits {
		if strings.HasPrefix(row, l.name) && (l.to == 0 || a <= l.to) {
			return l, true
		}
	}
	return limit{}, false
}

// keeps reports whether two results, as bits and as numbers, are near enough.
func (l limit) keeps(x, y uint64, v, w float64) bool {
	distance := math.Abs(v - w)
	switch {
	case x == y:
		return true
	case v != v || w != w || math.IsInf(distance, 0):
		return false
	}
	return l.ulp != 0 && max(x, y)-min(x, y) <= l.ulp || distance <= l.absolute || distance <= l.relative*math.Abs(w)
}

// floatType is the type that ends the name of an instruction.
func floatType(row string) string {
	name, _, _ := strings.Cut(row, " ")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// valueOf is a number of a float type.
func valueOf(bits uint64, typ string) float64 {
	switch typ {
	case "f64":
		return math.Float64frombits(bits)
	case "f32":
		return float64(math.Float32frombits(uint32(bits)))
	case "bf16":
		return float64(math.Float32frombits(uint32(bits) << 16))
	}
	sign, e, f := 1-2*float64(bits>>15&1), int(bits>>10&31), float64(bits&0x3ff)
	switch e {
	case 0:
		return sign * math.Ldexp(f, -24)
	case 31:
		return sign * math.Inf(1) * map[bool]float64{true: 1, false: math.NaN()}[f == 0]
	}
	return sign * math.Ldexp(f+1024, e-25)
}
