package engine

import (
	"math"
	"slices"
	"unsafe"

	"warpbook/gpu"
	"warpbook/gpu/emu/texture"
	"warpbook/gpu/ptx"
)

// textureForm is what a texture or surface instruction accesses.
type textureForm struct {
	object      func(w *warp, m uint32) // leaves the objects' numbers in w.addr
	geometry    string
	directions  int
	coordinates []uint32 // slots; that of a layer first
	layered     bool
	whole       bool     // coordinates are integers
	registers   []uint32 // slots of destinations, or of sources
	size        int      // bytes of each, of a surface
	outside     string   // trap, clamp or zero, of a surface
	channel     int      // of a gather
}

// directionsOf are the directions of a geometry. PTX has four coordinates for 3d and a2d,
// the last of which nothing reads.
var directionsOf = map[string]int{"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}

// geometryOf reads the geometry and binds the object and the coordinates of operand i.
func (lo *lowering) geometryOf(w *words, f *textureForm, i int, coordinate ptx.Type) error {
	f.geometry = w.take("1d", "2d", "3d", "a1d", "a2d")
	if f.geometry == "" {
		return lo.unsupported("no such geometry of %s", lo.op.in.src.Opcode)
	}
	f.directions, f.layered, f.whole = directionsOf[f.geometry], f.geometry[0] == 'a', coordinate == "s32"
	var err error
	if f.object, _, err = lo.addressPart(i); err != nil {
		return err
	}
	var elems []ptx.Operand
	if o := lo.operand(i); len(o.Elems) == 1 {
		elems = o.Elems[0].Elems
	}
	n := f.directions
	if f.layered {
		n++
	}
	written := n
	if n == 3 {
		written = 4
	}
	if len(elems) != written && len(elems) != n {
		return lo.malformed("%d coordinates, expected %d", len(elems), written)
	}
	f.coordinates = make([]uint32, n)
	for k := range f.coordinates {
		of := ptx.Type("b32")
		if err := lo.useOperand(&f.coordinates[k], elems[k], "a coordinate", of); err != nil {
			return err
		}
	}
	lo.op.in.flow = checked
	return nil
}

// texForm lowers tex.
func texForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	f := &textureForm{}
	level := w.take("level", "base", "grad")
	coordinate := w.last()
	to := w.last()
	vector := w.has("v4")
	if level == "grad" || !vector || coordinate != "s32" && coordinate != "f32" || to != "f32" && to != "u32" && to != "s32" {
		return lo.unsupported("no such form of tex")
	}
	if err := lo.geometryOf(&w, f, 1, coordinate); err != nil {
		return err
	}
	if len(w) > 0 {
		return lo.unsupported("no such form of tex")
	}
	n := 2
	if level == "level" {
		n = 3 // arrays have one level: the number is not read
	}
	if err := first(lo.operands(n, n), lo.textureRegisters(f)); err != nil {
		return err
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		w.texture(f, in, m, to == "f32", func(o *texture.Object, x [3]float64, layer int) texture.Texel {
			return o.Sample(x, f.directions, layer, f.whole)
		})
	}
	return nil
}

// tld4Form lowers tld4, which reads a channel of four elements.
func tld4Form(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	f := &textureForm{}
	coordinate := w.last()
	to := w.last()
	f.channel = slices.Index([]string{"r", "g", "b", "a"}, w.take("r", "g", "b", "a"))
	if f.channel < 0 || !w.has("v4") || coordinate != "f32" || to != "f32" && to != "u32" && to != "s32" {
		return lo.unsupported("no such form of tld4")
	}
	if err := lo.geometryOf(&w, f, 1, coordinate); err != nil {
		return err
	}
	if f.geometry != "2d" || len(w) > 0 {
		return lo.unsupported("no such form of tld4")
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		w.texture(f, in, m, to == "f32", func(o *texture.Object, x [3]float64, _ int) texture.Texel { return o.Gather(x, f.channel) })
	}
	return first(lo.operands(2, 2), lo.textureRegisters(f))
}

// textureRegisters binds the four destinations.
func (lo *lowering) textureRegisters(f *textureForm) error {
	elems := lo.operand(0).Elems
	if len(elems) != 4 {
		return lo.malformed("operand 1 has %d registers, expected 4", len(elems))
	}
	f.registers = make([]uint32, 4)
	for k, e := range elems {
		if err := lo.defOperand(&f.registers[k], e, "a destination", word); err != nil {
			return err
		}
	}
	return nil
}

// texture reads a texture.Texel of each lane.
func (w *warp) texture(f *textureForm, in *instr, m uint32, floats bool, read func(o *texture.Object, x [3]float64, layer int) texture.Texel) {
	f.object(w, m)
	var results [32]texture.Texel
	for y := m; y != 0; y &= y - 1 {
		l := lowest(y) & 31
		o := w.objectOf(in, l, w.addr[l], false)
		if o == nil {
			return
		}
		switch {
		case floats != o.Floats():
			want := "u32 or s32"
			if o.Floats() {
				want = "f32"
			}
			w.fail(in, l, gpu.ErrArgument, "it reads a texture of %v by the wrong type, expected %s: read that type, or set Texture.Scaled", o.Shape.Type, want)
			return
		case f.whole && o.Texture.Normalised:
			w.fail(in, l, gpu.ErrArgument, "whole coordinates of a texture with normalised ones: read it by float coordinates")
			return
		case !f.whole && o.Texture.Buffer != nil:
			w.fail(in, l, gpu.ErrArgument, "float coordinates of a texture of a buffer: read it by tex1Dfetch, or make it of an Array")
			return
		case !f.fits(o):
			w.fail(in, l, gpu.ErrArgument, "a %s read of a texture of %s: read it as that", f.geometry, o.Geometry())
			return
		}
		var x [3]float64
		at, layer := f.coordinates, 0
		if f.layered {
			// A number of a layer is unsigned on an H100: -1 is the last (programs texture 6 to 9).
			layer, at = int(min(lanes[uint32](w, at[0])[l], uint32(o.Shape.Layers-1))), at[1:]
		}
		for d, slot := range at {
			bits := lanes[uint32](w, slot)[l]
			if x[d] = float64(int32(bits)); !f.whole {
				x[d] = float64(math.Float32frombits(bits))
			}
		}
		results[l] = read(o, x, layer)
	}
	for k, slot := range f.registers {
		to := lanes[uint32](w, slot)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			to[l] = results[l][k]
		}
	}
}

// fits reports whether the instruction is of the object's geometry.
func (f *textureForm) fits(o *texture.Object) bool { return f.geometry == o.Geometry() }

// objectOf finds the object with a number.
func (w *warp) objectOf(in *instr, l int, number uint64, surface bool) *texture.Object {
	o, ok := w.block.launch.engine.objects.Find(number)
	what := "texture"
	if surface {
		what = "surface"
	}
	switch {
	case !ok:
		w.fail(in, l, gpu.ErrArgument, "no %s object has the number %#x: pass what the device's New%s returned, and free it after the launch", what, number, map[bool]string{false: "Texture", true: "Surface"}[surface])
		return nil
	case o.Surface != surface:
		w.fail(in, l, gpu.ErrArgument, "a %s object, expected a %s object", o.What(), what)
		return nil
	case o.Memory.Contents.Load() == nil:
		w.fail(in, l, gpu.ErrFreed, "the memory of the %s object was freed: free the object first", what)
		return nil
	}
	return o
}

// txqForm lowers txq and suq, which read the size of an object.
func txqForm(lo *lowering) error {
	w := wordsOf(lo.op.in.src)
	surface := lo.op.in.src.Opcode == "suq"
	direction := slices.Index([]string{"width", "height", "depth"}, w.take("width", "height", "depth"))
	if t := w.last(); direction < 0 || t != "b32" || len(w) > 0 {
		return lo.unsupported("no such form of %s", lo.op.in.src.Opcode)
	}
	object, _, err := lo.addressPart(1)
	if err != nil {
		return err
	}
	lo.op.in.flow = checked
	lo.op.in.exec = func(w *warp, in *instr, m uint32) {
		object(w, m)
		to := lanes[uint32](w, in.d)
		for y := m; y != 0; y &= y - 1 {
			l := lowest(y) & 31
			o := w.objectOf(in, l, w.addr[l], surface)
			if o == nil {
				return
			}
			to[l] = uint32([...]int{o.Shape.Width, o.Shape.Height, o.Shape.Depth}[direction])
		}
	}
	return first(lo.operands(2, 2), lo.def(&lo.op.in.d, 0, word))
}

// suldForm lowers suld.b, sustForm sust.b.
func suldForm(lo *lowering) error { return lo.surfaceForm(load) }
func sustForm(lo *lowering) error { return lo.surfaceForm(store) }

func (lo *lowering) surfaceForm(kind accessKind) error {
	w := wordsOf(lo.op.in.src)
	f := &textureForm{outside: w.take("trap", "clamp", "zero")}
	w.drop("ca", "cg", "cs", "cv", "wb", "wt")
	raw := w.has("b")
	n := map[string]int{"": 1, "v2": 2, "v4": 4}[w.take("v2", "v4")]
	t := w.last()
	f.size = t.Bytes()
	if f.outside == "" || !raw || t == "" || t[0] != 'b' || f.size > 8 {
		return lo.unsupported("no such form of %s", lo.op.in.src.Opcode)
	}
	value, object := 0, 1
	if kind == store {
		value, object = 1, 0
	}
	if err := first(lo.operands(2, 2), lo.geometryOf(&w, f, object, "s32")); err != nil {
		return err
	}
	elems := []ptx.Operand{lo.operand(value)}
	if elems[0].Kind == ptx.VectorOperand {
		elems = elems[0].Elems
	}
	if len(w) > 0 || len(elems) != n {
		return lo.malformed("operand %d has %d registers, expected %d", value+1, len(elems), n)
	}
	of := ptx.Type("b16")
	if f.size > 2 {
		of = t
	}
	f.registers = make([]uint32, n)
	for k, e := range elems {
		var err error
		if kind == load {
			err = lo.defOperand(&f.registers[k], e, "a destination", widthOf(of))
		} else {
			err = lo.useOperand(&f.registers[k], e, "a source", of)
		}
		if err != nil {
			return err
		}
	}
	lo.op.in.exec = func(w *warp, in *instr, m uint32) { w.surface(f, in, m, kind, widthOf(of)) }
	return nil
}

// surface reads or writes the bytes of each lane.
func (w *warp) surface(f *textureForm, in *instr, m uint32, kind accessKind, wide width) {
	f.object(w, m)
	bytes := f.size * len(f.registers)
	for y := m; y != 0; y &= y - 1 {
		l := lowest(y) & 31
		o := w.objectOf(in, l, w.addr[l], true)
		if o == nil {
			return
		}
		if !f.fits(o) {
			w.fail(in, l, gpu.ErrArgument, "a %s access of a surface of %s: access it as that", f.geometry, o.Geometry())
			return
		}
		at, inside := w.surfacePlace(f, o, in, l, bytes)
		if w.block.fault != nil {
			return
		}
		data := o.Memory.Contents.Load().Data
		for k, slot := range f.registers {
			p := unsafe.Pointer(&data[min(at+k*f.size, len(data)-f.size)])
			switch {
			case kind == load && !inside:
				w.setRegister(slot, l, wide, 0)
			case kind == load:
				w.setRegister(slot, l, wide, loadBits(p, f.size))
			case inside:
				storeBits(p, f.size, w.register(slot, l, wide))
			}
		}
	}
}

// surfacePlace is the offset of a lane's bytes in the object's memory, and whether they are
// inside.
func (w *warp) surfacePlace(f *textureForm, o *texture.Object, in *instr, l, bytes int) (at int, inside bool) {
	coordinates, layer := f.coordinates, 0
	if f.layered {
		layer = int(int32(lanes[uint32](w, coordinates[0])[l]))
		coordinates = coordinates[1:]
	}
	var i [3]int
	for d, slot := range coordinates {
		i[d] = int(int32(lanes[uint32](w, slot)[l]))
	}
	if i[0]%bytes != 0 {
		w.fail(in, l, gpu.ErrMisaligned, "%d bytes of a surface at byte %d of a row, expected a multiple of %d: the first coordinate counts bytes", bytes, i[0], bytes)
		return 0, false
	}
	row := o.Shape.Width * o.ElementBytes()
	most := [3]int{row - bytes, o.Size(1) - 1, o.Size(2) - 1}
	inside = layer >= 0 && layer < max(1, o.Shape.Layers)
	for d := range f.directions {
		inside = inside && i[d] >= 0 && i[d] <= most[d]
	}
	switch {
	case inside:
	case f.outside == "trap":
		w.fail(in, l, gpu.ErrOutOfBounds, "bytes %d to %d of row %d, slice %d, layer %d of a surface of %d bytes x %d x %d, %d layers: the first coordinate counts bytes",
			i[0], i[0]+bytes, i[1], i[2], layer, row, o.Size(1), o.Size(2), max(1, o.Shape.Layers))
		return 0, false
	case f.outside == "clamp":
		for d := range f.directions {
			i[d] = min(max(i[d], 0), most[d])
		}
		layer, inside = o.Layer(layer), true
	default:
		return 0, false
	}
	return o.Row(i, layer) + i[0], inside
}

func loadBits(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

func storeBits(p unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

// register is a lane's value of a register of some width.
func (w *warp) register(slot uint32, l int, wide width) uint64 {
	if wide == double {
		return lanes[uint64](w, slot)[l]
	}
	return uint64(lanes[uint32](w, slot)[l])
}

func (w *warp) setRegister(slot uint32, l int, wide width, v uint64) {
	if wide == double {
		lanes[uint64](w, slot)[l] = v
		return
	}
	lanes[uint32](w, slot)[l] = uint32(v)
}
