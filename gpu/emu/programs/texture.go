package programs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"warpbook/gpu"
)

// Texels are what a texture or surface object of a program reads.
type Texels struct {
	Shape   gpu.ArrayShape
	Texture gpu.Texture // but its Array or Buffer
	Buffer  bool        // the elements lie in a buffer
	Data    []uint64    // channels as bits
}

// object makes the object on a device, and what frees it and its memory.
func (t *Texels) object(d gpu.Device) (o gpu.Object, free func(), err error) {
	if t.Buffer {
		b, err := d.Alloc(t.Shape.Type, len(t.Data))
		if err == nil {
			err = b.Upload(t.slice())
		}
		if err != nil {
			return nil, nil, err
		}
		x := t.Texture
		x.Buffer, x.Channels = b, t.Shape.Channels
		o, err = d.NewTexture(x)
		return o, func() { o.Free(); b.Free() }, err
	}
	a, err := d.AllocArray(t.Shape)
	if err == nil {
		err = a.Upload(t.slice())
	}
	if err != nil {
		return nil, nil, err
	}
	if t.Shape.Surface {
		o, err = d.NewSurface(a)
	} else {
		x := t.Texture
		x.Array = a
		o, err = d.NewTexture(x)
	}
	return o, func() { o.Free(); a.Free() }, err
}

// slice is the data as a slice of the type.
func (t *Texels) slice() any {
	switch t.Shape.Type {
	case gpu.Uint8:
		return narrow[uint8](t.Data)
	case gpu.Int8:
		return narrow[int8](t.Data)
	case gpu.Uint16, gpu.Float16:
		return narrow[uint16](t.Data)
	case gpu.Int16:
		return narrow[int16](t.Data)
	case gpu.Uint32:
		return narrow[uint32](t.Data)
	case gpu.Int32:
		return narrow[int32](t.Data)
	}
	floats := make([]float32, len(t.Data))
	for i, v := range t.Data {
		floats[i] = math.Float32frombits(uint32(v))
	}
	return floats
}

func narrow[T uint8 | int8 | uint16 | int16 | uint32 | int32](data []uint64) []T {
	to := make([]T, len(data))
	for i, v := range data {
		to[i] = T(v)
	}
	return to
}

// texelRead is one way to read a texture.
type texelRead struct {
	geometry string
	shape    gpu.ArrayShape
	texture  gpu.Texture
	buffer   bool
	whole    bool   // coordinates are integers
	gather   string // channel
	exact    bool   // elements are small whole numbers, so that every sum is exact
}

var sides = map[string]gpu.ArrayShape{
	"1d": {Width: 13}, "2d": {Width: 13, Height: 7}, "3d": {Width: 5, Height: 7, Depth: 4}, "a1d": {Width: 9, Layers: 3}, "a2d": {Width: 6, Height: 5, Layers: 4},
}

// texturePrograms read textures in every geometry, address mode and type, and read and
// write surfaces.
func texturePrograms() []Program {
	var reads []texelRead
	add := func(geometry string, typ gpu.Type, channels int, texture gpu.Texture, exact bool) {
		shape := sides[geometry]
		shape.Type, shape.Channels = typ, channels
		reads = append(reads, texelRead{geometry: geometry, shape: shape, texture: texture, exact: exact})
	}
	for _, geometry := range []string{"1d", "2d", "3d", "a1d", "a2d"} {
		for _, filter := range []gpu.Filter{gpu.FilterPoint, gpu.FilterLinear} {
			add(geometry, gpu.Float32, 1, gpu.Texture{Filter: filter}, true)
		}
	}
	border := [4]float32{1, 2, 3, 4}
	for address := gpu.AddressClamp; address <= gpu.AddressMirror; address++ {
		for _, filter := range []gpu.Filter{gpu.FilterPoint, gpu.FilterLinear} {
			add("2d", gpu.Float32, 4, gpu.Texture{Address: address, Filter: filter, Normalised: true, Border: border}, true)
		}
	}
	add("2d", gpu.Float32, 2, gpu.Texture{Address: gpu.AddressBorder, Filter: gpu.FilterLinear}, true)
	add("1d", gpu.Float32, 1, gpu.Texture{Filter: gpu.FilterLinear}, false)
	add("2d", gpu.Float32, 1, gpu.Texture{Filter: gpu.FilterLinear}, false)
	add("3d", gpu.Float32, 1, gpu.Texture{Filter: gpu.FilterLinear, Normalised: true}, false)
	add("2d", gpu.Float16, 2, gpu.Texture{Filter: gpu.FilterLinear}, false)
	for _, typ := range []gpu.Type{gpu.Uint8, gpu.Int8, gpu.Uint16, gpu.Int16} {
		add("2d", typ, 4, gpu.Texture{}, false)
		add("2d", typ, 1, gpu.Texture{Scaled: true}, false)
	}
	add("2d", gpu.Uint8, 4, gpu.Texture{Scaled: true, Filter: gpu.FilterLinear}, false)
	add("2d", gpu.Uint32, 2, gpu.Texture{}, false)
	add("1d", gpu.Int32, 1, gpu.Texture{Address: gpu.AddressBorder}, false)
	for _, typ := range []gpu.Type{gpu.Float32, gpu.Uint8} {
		shape := gpu.ArrayShape{Type: typ, Channels: 4, Width: 21}
		reads = append(reads, texelRead{geometry: "1d", shape: shape, buffer: true, whole: true})
	}
	reads = append(reads, texelRead{geometry: "2d", shape: gpu.ArrayShape{Type: gpu.Float32, Channels: 1, Width: 9, Height: 5}, whole: true})
	for _, channel := range []string{"r", "a"} {
		reads = append(reads, texelRead{geometry: "2d", shape: gpu.ArrayShape{Type: gpu.Float32, Channels: 4, Width: 9, Height: 5}, gather: channel})
	}
	var all []Program
	for i, r := range reads {
		all = append(all, r.program(i))
	}
	return append(all, surfacePrograms()...)
}

func (t texelRead) program(number int) Program {
	p := Program{Name: fmt.Sprintf("texture %d %s %v", number, t.geometry, t.shape.Type), Blocks: 1, Threads: 256}
	r := source(p.Name)
	p.Texels = &Texels{Shape: t.shape, Texture: t.texture, Buffer: t.buffer, Data: texels(r, t.shape, t.exact)}
	directions := int(strings.TrimLeft(t.geometry, "a")[0] - '0')
	size := [3]int{t.shape.Width, t.shape.Height, t.shape.Depth}
	var w writer
	w.header()
	w.entryWithObject()
	w.line(".reg .b32 %%x<4>, %%layer, %%d<4>;")
	k, list := 0, []string{}
	if t.geometry[0] == 'a' {
		v := make([]uint64, p.Size())
		for i := range v {
			v[i] = uint64(uint32(r.IntN(t.shape.Layers+2) - 1))
		}
		p.In = append(p.In, v...)
		w.load("%layer", "b32", k, p.Size())
		k, list = k+1, append(list, "%layer")
	}
	for d := range directions {
		p.In = append(p.In, t.coordinates(r, size[d], p.Size())...)
		w.load(fmt.Sprintf("%%x%d", d), "b32", k, p.Size())
		k, list = k+1, append(list, fmt.Sprintf("%%x%d", d))
	}
	if len(list) == 3 {
		list = append(list, list[2])
	}
	to, coordinate := "f32", "f32"
	if typ := t.shape.Type; typ != gpu.Float32 && typ != gpu.Float16 && !t.texture.Scaled {
		if to = "u32"; typ == gpu.Int8 || typ == gpu.Int16 || typ == gpu.Int32 {
			to = "s32"
		}
	}
	if t.whole {
		coordinate = "s32"
	}
	opcode := "tex." + t.geometry
	if t.gather != "" {
		opcode = "tld4." + t.gather + "." + t.geometry
	}
	w.line("%s.v4.%s.%s {%%d0, %%d1, %%d2, %%d3}, [%%object, {%s}];", opcode, to, coordinate, strings.Join(list, ", "))
	channels := t.shape.Channels
	if t.gather != "" {
		channels = 4
	}
	for c := range channels {
		w.store(c, p.Size(), "b32", fmt.Sprintf("%%d%d", c))
		p.Rows = append(p.Rows, fmt.Sprintf("channel %d", c))
	}
	w.end()
	p.Text = w.String()
	return p
}

// coordinates are inside, at the edges, between elements and outside.
func (t texelRead) coordinates(r *rand.Rand, n, size int) []uint64 {
	v := make([]uint64, size)
	for i := range v {
		if t.whole {
			v[i] = uint64(uint32(r.IntN(n+4) - 2))
			continue
		}
		x := float64(r.IntN(16*(n+4)))/16 - 2
		switch i % 4 {
		case 1:
			x += float64(r.IntN(64)) / 4096 // between two weights
		case 2:
			x = r.Float64()*float64(n+4) - 2
		case 3:
			x = math.Round(x)
		}
		if t.texture.Normalised {
			x /= float64(n)
			if i%4 == 0 { // exact fractions
				x = float64(r.IntN(64*4))/64 - 1.5
			}
		}
		v[i] = uint64(math.Float32bits(float32(x)))
	}
	return v
}

// texels makes the channels of all elements.
func texels(r *rand.Rand, s gpu.ArrayShape, exact bool) []uint64 {
	v := make([]uint64, s.Elements())
	for i := range v {
		switch {
		case s.Type == gpu.Float32 && exact:
			v[i] = uint64(math.Float32bits(float32(r.IntN(256) - 128)))
		case s.Type == gpu.Float32:
			v[i] = element(r, "f32", 1)
		case s.Type == gpu.Float16:
			v[i] = element(r, "f16", 1)
		default:
			v[i] = r.Uint64()
		}
	}
	return v
}

// entryWithObject begins an entry whose third parameter is an object, in %object.
func (w *writer) entryWithObject() {
	var head writer
	head.entry()
	w.WriteString(strings.Replace(head.String(), ".param .u64 in)", ".param .u64 in, .param .u64 object)", 1))
	w.line(".reg .b64 %%object; ld.param.u64 %%object, [object];")
}

// surfacePrograms read bytes of surfaces outside and inside, and write elements and read
// them back, each thread its own.
func surfacePrograms() []Program {
	var all []Program
	for _, s := range []struct {
		geometry, outside, access string
	}{{"1d", "zero", "b32"}, {"2d", "clamp", "b32"}, {"2d", "zero", "v2.b32"}, {"3d", "clamp", "v4.b32"}, {"a2d", "zero", "b64"}, {"2d", "zero", "b8"}, {"a1d", "clamp", "b16"}} {
		shape := sides[s.geometry]
		shape.Type, shape.Channels, shape.Surface = gpu.Uint32, 4, true
		p := Program{Name: fmt.Sprintf("surface %s %s %s", s.geometry, s.access, s.outside), Blocks: 1, Threads: 128}
		r := source(p.Name)
		p.Texels = &Texels{Shape: shape, Data: texels(r, shape, false)}
		vector, typ, found := strings.Cut(s.access, ".")
		if !found {
			vector, typ = "", s.access
		}
		n := map[string]int{"": 1, "v2": 2, "v4": 4}[vector]
		register := map[string]string{"b8": "b16", "b16": "b16", "b32": "b32", "b64": "b64"}[typ]
		access := n * bytesOf(typ)
		var w writer
		w.header()
		w.entryWithObject()
		w.line(".reg .b32 %%x<4>, %%layer; .reg .%s %%d<4>, %%e<4>; .reg .b32 %%w;", register)
		list, k := []string{}, 0
		read := func(name string, make func() int) {
			v := []uint64{}
			for range p.Size() {
				v = append(v, uint64(uint32(make())))
			}
			p.In = append(p.In, v...)
			w.load(name, "b32", k, p.Size())
			k, list = k+1, append(list, name)
		}
		if s.geometry[0] == 'a' {
			read("%layer", func() int { return r.IntN(shape.Layers) })
		}
		size := [3]int{shape.Width * 16, shape.Height, shape.Depth}
		for d := range int(strings.TrimLeft(s.geometry, "a")[0] - '0') {
			read(fmt.Sprintf("%%x%d", d), func() int {
				if d == 0 {
					return (r.IntN(size[0]/access+6) - 3) * access
				}
				return r.IntN(size[d]+4) - 2
			})
		}
		if len(list) == 3 {
			list = append(list, list[2])
		}
		at := fmt.Sprintf("[%%object, {%s}]", strings.Join(list, ", "))
		form := fmt.Sprintf("b.%s.%s.%s", s.geometry, s.access, s.outside)
		w.line("suld.%s %s, %s;", form, registers("d", n), at)
		row := 0
		store := func(letter string) {
			for i := range n {
				value := fmt.Sprintf("%%%s%d", letter, i)
				if register == "b16" {
					w.line("cvt.u32.u16 %%w, %s; st.global.b32 [%%out+%d], %%w;", value, 8*row*p.Size())
				} else {
					w.store(row, p.Size(), register, value)
				}
				p.Rows = append(p.Rows, fmt.Sprintf("%s register %d", letter, i))
				row++
			}
		}
		store("d")
		// Each thread writes where only it reads again: the first row, by its number.
		own := strings.Repeat(", 0", len(list)-1)
		if s.geometry[0] == 'a' {
			own = fmt.Sprintf("{0, %%x0%s}", strings.Repeat(", 0", len(list)-2))
		} else {
			own = fmt.Sprintf("{%%x0%s}", own)
		}
		w.line("bar.sync 0; mul.lo.u32 %%x0, %%thread, %d;", access)
		for i := range n {
			w.line("not.%s %%e%d, %%d%d;", register, i, i)
		}
		inside := strings.Replace(form, "clamp", "zero", 1) // threads behind the row write nothing
		w.line("sust.%s [%%object, %s], %s;", inside, own, registers("e", n))
		w.line("suld.%s %s, [%%object, %s];", inside, registers("d", n), own)
		store("d")
		w.end()
		p.Text = w.String()
		all = append(all, p)
	}
	return all
}
