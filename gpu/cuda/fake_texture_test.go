package cuda

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"warpbook/gpu"
	"warpbook/gpu/cuda/command"
)

// fakeTextures are the arrays and objects of a fake worker. Its numbers of objects are its
// own, and a launch is given the emulator's.
type fakeTextures struct {
	arrays  map[uint32]gpu.Array
	objects map[uint64]gpu.Object
}

func (f *fakeTextures) do(c command.Command, w *fake) (values []int64, err error) {
	if f.arrays == nil {
		f.arrays, f.objects = map[uint32]gpu.Array{}, map[uint64]gpu.Object{}
	}
	switch c := c.(type) {
	case *command.Array:
		f.arrays[c.Array], err = w.device.AllocArray(gpu.ArrayShape{Type: typeOf(c.Format), Channels: int(c.Channels),
			Width: int(c.Size[0]), Height: int(c.Size[1]), Depth: int(c.Size[2]), Layers: int(c.Layers), Surface: c.Surface})
	case *command.CopyArray:
		a := f.arrays[c.Array]
		raw := make([]byte, c.Buffer.Bytes)
		slice := reflect.New(reflect.TypeOf(zeros(a.Shape()))).Elem()
		slice.Set(reflect.ValueOf(zeros(a.Shape())))
		view := w.view(c.Buffer.Buffer, c.Buffer.Offset, c.Buffer.Bytes)
		if c.Read {
			if err = a.Download(slice.Interface()); err == nil {
				if raw, err = binary.Append(nil, binary.LittleEndian, slice.Interface()); err == nil {
					err = view.Upload(raw)
				}
			}
		} else if err = view.Download(raw); err == nil {
			if _, err = binary.Decode(raw, binary.LittleEndian, slice.Interface()); err == nil {
				err = a.Upload(slice.Interface())
			}
		}
	case *command.FreeArray:
		err = f.arrays[c.Array].Free()
	case *command.Texture:
		t := gpu.Texture{Address: gpu.Address(c.Address), Normalised: c.Normalised, Scaled: c.Scaled, Border: c.Border}
		if c.Linear {
			t.Filter = gpu.FilterLinear
		}
		if t.Array = f.arrays[c.Array]; c.Array == 0 {
			t.Buffer, t.Channels = w.view(c.Buffer.Buffer, c.Buffer.Offset, c.Buffer.Bytes), int(c.Channels)
		}
		return f.add(w.device.NewTexture(t))
	case *command.Surface:
		return f.add(w.device.NewSurface(f.arrays[c.Array]))
	case *command.FreeObject:
		err = f.objects[uint64(c.Object)].Free()
		delete(f.objects, uint64(c.Object))
	}
	return values, err
}

func (f *fakeTextures) add(o gpu.Object, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	number := 1<<62 + uint64(len(f.objects))
	for f.objects[number] != nil {
		number++
	}
	f.objects[number] = o
	return []int64{int64(number)}, nil
}

func typeOf(format uint32) gpu.Type {
	for t, f := range channelFormats {
		if f == format {
			return t
		}
	}
	panic(fmt.Sprintf("no channel format %d", format))
}
