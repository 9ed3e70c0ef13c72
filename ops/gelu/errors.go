package gelu

import (
	"errors"
	"fmt"
	"math"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Errors are the results of a rung on every finite half.
type Errors struct {
	Rung string
	X    []float64 // ascending; of the two zeros the positive one alone
	ULPs []float64 // between the result and the reference, in units in the last place of the reference as float16
}

// ErrorsOf runs the runner's rung of Operator or Erf on every finite half, and compares
// each result with the reference in float64.
func ErrorsOf(h ladder.Runner, o *ladder.Operator) (e Errors, err error) {
	size := ladder.Size{1<<16 - 2<<10 - 1} // without NaN, the infinities and -0
	in, out := o.Inputs(size)[0], o.Outputs(size)[0]
	x, y := in.Make().([]float32), out.Make().([]float32)
	for i := range x {
		if bits := i - 0x7bff; bits < 0 {
			x[i] = half(uint16(0x8000 - bits))
		} else {
			x[i] = half(uint16(bits))
		}
	}
	memory := map[string]gpu.Buffer{}
	for _, t := range []ladder.Tensor{in, out} {
		b, err := h.Device().Alloc(t.Elements(), t.Len)
		if err != nil {
			return e, fmt.Errorf("ops: %s: errors: %w", o.Name, err)
		}
		defer b.Free()
		memory[t.Name] = b
	}
	err = errors.Join(in.Upload(nil, memory["x"], x), out.Upload(nil, memory["y"], out.Poisoned()))
	if err == nil {
		err = h.Launch(o, size, memory)
	}
	if err == nil {
		err = out.Download(nil, memory["y"], y)
	}
	if err != nil {
		return e, fmt.Errorf("ops: %s: errors: %w", o.Name, err)
	}
	want := o.Reference(nil, size, []ladder.Values{x})[0].Value
	e = Errors{Rung: h.Rung(), X: make([]float64, len(x)), ULPs: make([]float64, len(x))}
	for i := range x {
		e.X[i] = float64(x[i])
		e.ULPs[i] = math.Abs(float64(y[i])-want[i]) / ladder.LastPlace(gpu.Float16, want[i])
	}
	return e, nil
}

// Largest is the largest error and where it is.
func (e Errors) Largest() (x, ulps float64) {
	for i, u := range e.ULPs {
		if u > ulps || u != u {
			x, ulps = e.X[i], u
		}
	}
	return x, ulps
}

// Missed is the number of results that are not the half nearest to the reference, which
// lies within half a unit.
func (e Errors) Missed() (n int) {
	for _, u := range e.ULPs {
		if !(u <= 0.5) {
			n++
		}
	}
	return n
}

// String is the rung with its largest error.
func (e Errors) String() string {
	x, ulps := e.Largest()
	return fmt.Sprintf("%s: at most %.4g ulp, at x = %.4g; %d of %d not correctly rounded", e.Rung, ulps, x, e.Missed(), len(e.X))
}
