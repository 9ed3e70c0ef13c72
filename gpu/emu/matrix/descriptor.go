package matrix

import (
	"errors"
	"fmt"
	"unsafe"

	"warpbook/gpu/emu/arith"
	"warpbook/gpu/emu/mem"
	"warpbook/gpu/ptx"
)

// PartBytes is the bytes that lie in one piece wherever a tile is laid out.
const PartBytes = 16

// Reader finds PartBytes bytes at an offset in shared memory; nil if they must not be read.
// It reports its own fault.
type Reader func(at uint64) unsafe.Pointer

// ErrNoPart is the error of a tile of which a Reader has not found a part.
var ErrNoPart = errors.New("a part of the tile must not be read")

// rows are rows of a or columns of b, each with all its k.
type rows struct {
	of           ptx.Type
	depth        int // elements of each
	from, count  int
	trans, minus bool
}

// term returns the function that decomposes a factor.
func (t *rows) term() func(v uint64) arith.Term {
	switch t.of {
	case "s8":
		return func(v uint64) arith.Term { return arith.Number(int32(int8(v))) }
	case "u8":
		return func(v uint64) arith.Term { return arith.Number(int32(v)) }
	}
	minus, format := uint64(0), arith.FormatOf(t.of)
	if t.minus {
		minus = 1 << (8*t.of.Bytes() - 1)
	}
	switch {
	case t.of.Bytes() == 1:
		return func(v uint64) arith.Term { return arith.FP8Term(v^minus, t.of) }
	case t.of == "tf32":
		return func(v uint64) arith.Term { return arith.TermOf((v^minus)>>13, format) }
	}
	return func(v uint64) arith.Term { return arith.TermOf(v^minus, format) }
}

// load reads the rows from the tile that a descriptor names, part by part. The error is
// ErrNoPart, or names the base offset or the swizzle that the emulator does not support.
func (t *rows) load(to []arith.Term, descriptor uint64, read Reader) error {
	l := layoutOf(descriptor)
	size := t.of.Bytes()
	switch {
	case descriptor>>49&7 != 0:
		return fmt.Errorf("a matrix descriptor with a base offset of %d, on the emulator: align the tile to 1024 bytes, or run this entry on a GPU", descriptor>>49&7)
	case !t.trans && l.span != 0 && l.span < uint64(t.depth*size):
		return fmt.Errorf("a matrix descriptor with a swizzle of %d bytes for rows of %d, on the emulator: use a wider swizzle, or run this entry on a GPU", l.span, t.depth*size)
	}
	// A part has elements of a row, or, transposed, an element of each of some rows.
	per := PartBytes / size
	rows, elements, stride := 1, per, 1
	if t.trans {
		rows, elements, stride = per, 1, t.depth
	}
	term := t.term()
	for r := 0; r < t.count; r += rows {
		for k := 0; k < t.depth; k += elements {
			from := read(l.place(uint64(t.from+r), uint64(k), uint64(size), t.trans))
			if from == nil {
				return ErrNoPart
			}
			to := to[r*t.depth+k:]
			for i := range per {
				to[i*stride] = term(element(from, i, size))
			}
		}
	}
	return nil
}

// element is element i of some bytes.
func element(from unsafe.Pointer, i, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(unsafe.Add(from, i)))
	case 2:
		return uint64(*(*uint16)(unsafe.Add(from, 2*i)))
	}
	return uint64(*(*uint32)(unsafe.Add(from, 4*i)))
}

// layout is a decoded matrix descriptor: the start of a tile, the distances of its
// parts, and the bytes of the span in which 16-byte parts are swizzled, 0 for none.
type layout struct {
	start, leading, stride uint64
	span                   uint64
}

func layoutOf(descriptor uint64) layout {
	return layout{
		start: descriptor & 0x3fff << 4, leading: descriptor >> 16 & 0x3fff << 4, stride: descriptor >> 32 & 0x3fff << 4,
		span: [...]uint64{0, 128, 64, 32}[descriptor>>62],
	}
}

// place is the offset of element k of row r of a tile, whose elements have size bytes;
// trans means that rows, and not k, are contiguous.
func (l layout) place(r, k, size uint64, trans bool) uint64 {
	per := 16 / size // elements of 16 bytes
	at := l.start
	switch {
	case l.span == 0 && !trans:
		at += r%8*16 + r/8*l.stride + k/per*l.leading + k%per*size
	case l.span == 0:
		at += r%per*size + r/per*l.stride + k%8*16 + k/8*l.leading
	case !trans:
		at += r%8*l.span + r/8*l.stride + k*size
	default:
		wide := l.span / size // elements of a span
		at += r%wide*size + r/wide*l.leading + k%8*l.span + k/8*l.stride
	}
	return mem.Swizzled(at, int(l.span))
}
