package ladder

import (
	"fmt"
	"math"
	"math/rand/v2"

	"warpbook/gpu"
)

// Elements is the data type in device memory.
func (t Tensor) Elements() gpu.Type {
	if t.Type == gpu.Invalid {
		return gpu.Float32
	}
	return t.Type
}

// narrow is a float of 16 bits with so many bits of fraction.
type narrow struct {
	fraction int
	bias     int
	poison   uint16 // a quiet NaN with a payload that no arithmetic produces
}

var narrows = map[gpu.Type]narrow{
	gpu.Float16:  {fraction: 10, bias: 15, poison: 0x7e5d},
	gpu.BFloat16: {fraction: 7, bias: 127, poison: 0x7fed},
}

// Make is host memory for the tensor, of zeros.
func (t Tensor) Make() Values { return t.class().make(t.Len) }

// Poisoned is host memory for the tensor in which elements that were not written show.
func (t Tensor) Poisoned() Values { return t.class().poisoned(t.Len) }

// PoisonedFor is Poisoned for an output that must become so: where integers must be
// exact, it differs from every element that must be written.
func (t Tensor) PoisonedFor(want Expected) Values {
	if want.Exact == nil || t.Count != "" || Length(want.Exact) != t.Len {
		return t.Poisoned()
	}
	return t.class().complement(want.Exact)
}

// Takes refuses values that are not of the tensor's Go type and length.
func (t Tensor) Takes(values Values) error {
	switch c := classOf(values); {
	case c != t.class():
		return fmt.Errorf("%w: %T, expected %T", gpu.ErrArgument, values, Tensor{Type: t.Type}.Make())
	case c.length(values) != t.Len:
		return fmt.Errorf("%w: %d elements, expected %d", gpu.ErrArgument, c.length(values), t.Len)
	}
	return nil
}

// Random is uniform data for an input, from Low to High, as the tensor rounds it.
func (t Tensor) Random(stop Stop, random *rand.Rand) Values {
	return t.Rounded(stop, t.class().random(stop, t.Len, t.Low, t.High, random))
}

// Rounded rounds values in place to those that the tensor holds.
func (t Tensor) Rounded(stop Stop, values Values) Values {
	if n, ok := narrows[t.Type]; ok {
		wide := values.([]float32)
		stop.Parallel(len(wide), func(from, to int) {
			for i, v := range wide[from:to] {
				wide[from+i] = n.widen(n.round(v))
			}
		})
	}
	return values
}

// Upload writes values in the buffer's type, all of them or none.
func (t Tensor) Upload(stop Stop, to gpu.Buffer, values Values) error {
	n, ok := narrows[t.Type]
	if !ok {
		return to.Upload(values)
	}
	wide := values.([]float32)
	halves := make([]uint16, len(wide))
	stop.Parallel(len(wide), func(from, to int) {
		for i, v := range wide[from:to] {
			halves[from+i] = n.round(v)
		}
	})
	if stop.Now() {
		return gpu.ErrInterrupted
	}
	return to.Upload(halves)
}

// Download reads a buffer of the tensor's type.
func (t Tensor) Download(stop Stop, from gpu.Buffer, values Values) error {
	n, ok := narrows[t.Type]
	if !ok {
		return from.Download(values)
	}
	wide := values.([]float32)
	if from.Len() != len(wide) {
		return fmt.Errorf("ops: download %s: %w: %d values of %d", t.Name, gpu.ErrArgument, len(wide), from.Len())
	}
	halves := make([]uint16, len(wide))
	if err := from.Download(halves); err != nil {
		return err
	}
	stop.Parallel(len(halves), func(from, to int) {
		for i, h := range halves[from:to] {
			wide[from+i] = n.widen(h)
		}
	})
	return nil
}

// round is the nearest 16-bit float, of two the even one.
func (n narrow) round(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	infinity := 0x7fff >> n.fraction << n.fraction
	switch {
	case v == 0:
		return sign
	case bits == math.Float32bits(Poison):
		return n.poison
	case v != v:
		return uint16(infinity | 1<<(n.fraction-1))
	case math.IsInf(float64(v), 0):
		return sign | uint16(infinity)
	}
	// In units of the last place of the result, which subnormals share.
	_, exponent := math.Frexp(float64(v))
	exponent = max(exponent-1, 1-n.bias)
	units := math.RoundToEven(math.Ldexp(math.Abs(float64(v)), n.fraction-exponent))
	return sign | uint16(min(infinity, (exponent+n.bias-1)<<n.fraction+int(units)))
}

// widen is the float32 of a 16-bit float.
func (n narrow) widen(h uint16) float32 {
	if h == n.poison {
		return Poison
	}
	sign := float64(1)
	if h>>15 != 0 {
		sign = -1
	}
	exponent := int(h & 0x7fff >> n.fraction)
	fraction := float64(h & (1<<n.fraction - 1))
	switch {
	case exponent == 0x7fff>>n.fraction && fraction != 0:
		return float32(math.NaN())
	case exponent == 0x7fff>>n.fraction:
		return float32(math.Inf(int(sign)))
	case exponent > 0:
		fraction += float64(int(1) << n.fraction)
	}
	return float32(sign * math.Ldexp(fraction, max(exponent, 1)-n.bias-n.fraction))
}

// Poisoned are n float32 that no arithmetic produces.
func Poisoned(n int) []float32 {
	x := make([]float32, n)
	Stop(nil).Parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			x[i] = Poison
		}
	})
	return x
}
