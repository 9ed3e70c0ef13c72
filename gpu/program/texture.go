//go:build linux

package program

import (
	"fmt"
	"math"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/program/wire"
)

// Kinds of memory that objects are made of.
const (
	arrayObject = iota
	linearObject
	pitchObject
)

// channelTypes are the types of channels by cudaChannelFormatKind, then by bits: 8, 16, 32.
var channelTypes = [3][3]gpu.Type{{gpu.Int8, gpu.Int16, gpu.Int32}, {gpu.Uint8, gpu.Uint16, gpu.Uint32}, {gpu.Invalid, gpu.Float16, gpu.Float32}}

// object makes a texture or surface object.
func (s *server) object(m wire.Message) wire.Answer {
	o, number, err := s.newObject(m)
	if err != nil {
		s.report.say("%serror %d: %s", before(s.report.place(m.Here)), errorInvalidValue, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "emu: texture: "), "gpu: "))
		return wire.Answer{Status: errorInvalidValue}
	}
	s.objects[number] = o
	return wire.Answer{Values: []uint64{number}}
}

func (s *server) newObject(m wire.Message) (gpu.Object, uint64, error) {
	v := func(i int) int { return int(m.Value(i)) }
	kind, bits := m.Value(3)>>8, m.Value(3)&255
	size := map[uint64]int{8: 0, 16: 1, 32: 2}
	at, ok := size[bits]
	if !ok || kind >= uint64(len(channelTypes)) || channelTypes[kind][at] == gpu.Invalid {
		return nil, 0, fmt.Errorf("%w: a channel of %d bits of kind %d", gpu.ErrArgument, bits, kind)
	}
	l := emu.Layout{Shape: gpu.ArrayShape{Type: channelTypes[kind][at], Channels: v(4), Width: v(5), Height: v(6), Depth: v(7), Layers: v(8), Surface: v(2) != 0}, Pitch: v(9), Linear: v(10) == linearObject}
	if l.Linear {
		if l.Shape.Channels < 1 || l.Shape.Width < 1 {
			return nil, 0, fmt.Errorf("%w: a texture of %d elements of %d channels", gpu.ErrArgument, l.Shape.Width, l.Shape.Channels)
		}
	} else if err := gpu.CheckArray(l.Shape); err != nil {
		return nil, 0, err
	}
	t := gpu.Texture{Filter: gpu.Filter(v(12)), Normalised: v(13) != 0, Scaled: v(14) != 0}
	for d := range 3 {
		l.Addresses = append(l.Addresses, addressMode(m.Value(11)>>(8*d)&255, t.Normalised))
	}
	for c := range t.Border {
		t.Border[c] = math.Float32frombits(uint32(m.Value(15 + c)))
	}
	b, err := s.memory.part(m.Value(0), m.Value(1))
	if err != nil {
		return nil, 0, err
	}
	return s.dev.NewObject(b, l, t)
}

// addressMode is one of cudaTextureAddressMode. Without normalised coordinates a texture
// neither wraps nor mirrors.
func addressMode(mode uint64, normalised bool) gpu.Address {
	switch {
	case mode == 0 && normalised:
		return gpu.AddressWrap
	case mode == 2 && normalised:
		return gpu.AddressMirror
	case mode == 3:
		return gpu.AddressBorder
	}
	return gpu.AddressClamp
}

func (s *server) destroy(number uint64) error {
	o, ok := s.objects[number]
	if !ok {
		return fmt.Errorf("%w: no object has the number %#x", gpu.ErrArgument, number)
	}
	delete(s.objects, number)
	return o.Free()
}
