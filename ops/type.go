package ops

import (
	"fmt"
	"math"
	"math/rand/v2"

	"warpbook/gpu"
)

// elements is the data type in device memory.
func (t Tensor) elements() gpu.Type {
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

// random is data for an input, as the tensor rounds it.
func (t Tensor) random(stop Stop, random *rand.Rand) []float32 {
	x := uniform(stop, t.Len, random)
	if t.Low != 0 || t.High != 0 {
		for i, v := range x {
			x[i] = t.Low + v*(t.High-t.Low)
		}
	}
	return t.rounded(stop, x)
}

// rounded rounds values in place to those that the tensor holds.
func (t Tensor) rounded(stop Stop, values []float32) []float32 {
	if n, ok := narrows[t.Type]; ok {
		stop.pieces(len(values), func(from, to int) {
			for i, v := range values[from:to] {
				values[from+i] = n.widen(n.round(v))
			}
		})
	}
	return values
}

// upload writes values in the buffer's type, all of them or none.
func (t Tensor) upload(stop Stop, to gpu.Buffer, values []float32) error {
	n, ok := narrows[t.Type]
	if !ok {
		return to.Upload(values)
	}
	halves := make([]uint16, len(values))
	stop.pieces(len(values), func(from, to int) {
		for i, v := range values[from:to] {
			halves[from+i] = n.round(v)
		}
	})
	if stop.now() {
		return gpu.ErrInterrupted
	}
	return to.Upload(halves)
}

// download reads a buffer of the tensor's type.
func (t Tensor) download(stop Stop, from gpu.Buffer, values []float32) error {
	n, ok := narrows[t.Type]
	if !ok {
		return from.Download(values)
	}
	if from.Len() != len(values) {
		return fmt.Errorf("ops: download %s: %w: %d values of %d", t.Name, gpu.ErrArgument, len(values), from.Len())
	}
	halves := make([]uint16, len(values))
	if err := from.Download(halves); err != nil {
		return err
	}
	stop.pieces(len(halves), func(from, to int) {
		for i, h := range halves[from:to] {
			values[from+i] = n.widen(h)
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
	case bits == math.Float32bits(poison):
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
		return poison
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
