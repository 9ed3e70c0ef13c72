package paper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// unitsPerEm is the grid of the fonts that subset writes.
const unitsPerEm = 1024

// subset writes a TrueType font with the glyphs of these characters, which are sorted.
// The PDF library reads TrueType outlines only; the fonts of systems are mostly
// collections with PostScript outlines of 20 MB. Cubic curves become quadratic ones.
func subset(from *sfnt.Font, name string, characters []rune) ([]byte, error) {
	var glyf, loca, hmtx bytes.Buffer
	var box bounds
	add := func(g glyph, width int) {
		put(&loca, uint32(glyf.Len()))
		left := 0
		if len(g.points) > 0 {
			left = int(g.box().minX)
			box.add(g.box())
		}
		g.write(&glyf)
		put(&hmtx, uint16(width), int16(left))
	}
	add(glyph{}, unitsPerEm/2) // number 0: the missing glyph
	for _, r := range characters {
		g, width, err := outline(from, r)
		if err != nil {
			return nil, fmt.Errorf("glyph of %q: %w", r, err)
		}
		add(g, width)
	}
	put(&loca, uint32(glyf.Len()))
	count := uint16(len(characters) + 1)
	if len(characters) >= math.MaxUint16-1 {
		return nil, errors.New("more than 65 534 characters")
	}
	var head, hhea, maxp, post bytes.Buffer
	put(&head, uint32(0x10000), uint32(0x10000), uint32(0), uint32(0x5f0f3cf5), uint16(0), uint16(unitsPerEm), int64(0), int64(0),
		box.minX, box.minY, box.maxX, box.maxY, uint16(0), uint16(8), int16(2), int16(1), int16(0))
	put(&hhea, uint32(0x10000), int16(900), int16(-200), int16(0), uint16(unitsPerEm), int16(0), int16(0), box.maxX,
		int16(1), int16(0), int16(0), [4]int16{}, int16(0), count)
	put(&maxp, uint32(0x10000), count, [13]uint16{})
	put(&post, uint32(0x30000), uint32(0), int16(-100), int16(50), uint32(0), [4]uint32{})
	return fontFile([]fontTable{
		{"cmap", characterMap(characters)}, {"glyf", glyf.Bytes()}, {"head", head.Bytes()}, {"hhea", hhea.Bytes()}, {"hmtx", hmtx.Bytes()},
		{"loca", loca.Bytes()}, {"maxp", maxp.Bytes()}, {"name", nameTable(name)}, {"post", post.Bytes()},
	}), nil
}

// put writes values of fixed size, big-endian.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		binary.Write(b, binary.BigEndian, v) // into memory: no error
	}
}

type fontTable struct {
	name string
	data []byte
}

func fontFile(tables []fontTable) []byte {
	var out bytes.Buffer
	put(&out, uint32(0x10000), uint16(len(tables)), uint16(0), uint16(0), uint16(0))
	at := 12 + 16*len(tables)
	for _, t := range tables {
		out.WriteString(t.name)
		put(&out, uint32(0), uint32(at), uint32(len(t.data))) // readers in a PDF use no checksums
		at += (len(t.data) + 3) &^ 3
	}
	for _, t := range tables {
		out.Write(t.data)
		out.Write(make([]byte, -len(t.data)&3))
	}
	return out.Bytes()
}

func nameTable(name string) []byte {
	var b bytes.Buffer
	ids := []uint16{1, 4, 6}
	put(&b, uint16(0), uint16(len(ids)), uint16(6+12*len(ids)))
	for _, id := range ids {
		put(&b, uint16(1), uint16(0), uint16(0), id, uint16(len(name)), uint16(0))
	}
	b.WriteString(name)
	return b.Bytes()
}

// characterMap is a cmap table of format 4, with a segment for each character. The
// glyph of characters[i] is i+1.
func characterMap(characters []rune) []byte {
	n := len(characters) + 1 // the last segment is 0xffff
	var ends, starts, deltas, sub, b bytes.Buffer
	for i, r := range characters {
		put(&ends, uint16(r))
		put(&starts, uint16(r))
		put(&deltas, uint16(i+1-int(r)))
	}
	put(&ends, uint16(0xffff))
	put(&starts, uint16(0xffff))
	put(&deltas, uint16(1))
	put(&sub, uint16(4), uint16(16+8*n), uint16(0), uint16(2*n), uint16(0), uint16(0), uint16(0))
	sub.Write(ends.Bytes())
	put(&sub, uint16(0))
	sub.Write(starts.Bytes())
	sub.Write(deltas.Bytes())
	sub.Write(make([]byte, 2*n)) // no offsets
	put(&b, uint16(0), uint16(1), uint16(3), uint16(1), uint32(12))
	b.Write(sub.Bytes())
	return b.Bytes()
}

type bounds struct{ minX, minY, maxX, maxY int16 }

func (b *bounds) add(o bounds) {
	b.minX, b.minY = min(b.minX, o.minX), min(b.minY, o.minY)
	b.maxX, b.maxY = max(b.maxX, o.maxX), max(b.maxY, o.maxY)
}

// glyph is an outline of quadratic curves, in the grid of unitsPerEm.
type glyph struct {
	points   []glyphPoint
	contours []int // the index of the last point of each
}

type glyphPoint struct {
	x, y int16
	on   bool // on the curve
}

// outline reads the glyph of a character and its width.
func outline(from *sfnt.Font, r rune) (glyph, int, error) {
	var buf sfnt.Buffer
	index, err := from.GlyphIndex(&buf, r)
	if err != nil {
		return glyph{}, 0, err
	}
	advance, err := from.GlyphAdvance(&buf, index, fixed.I(unitsPerEm), font.HintingNone)
	if err != nil {
		return glyph{}, 0, err
	}
	segments, err := from.LoadGlyph(&buf, index, fixed.I(unitsPerEm), nil)
	if err != nil {
		return glyph{}, 0, err
	}
	var g glyph
	var at fixed.Point26_6
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g.close()
			g.add(s.Args[0], true)
			at = s.Args[0]
		case sfnt.SegmentOpLineTo:
			g.add(s.Args[0], true)
			at = s.Args[0]
		case sfnt.SegmentOpQuadTo:
			g.add(s.Args[0], false)
			g.add(s.Args[1], true)
			at = s.Args[1]
		case sfnt.SegmentOpCubeTo:
			g.cubic(at, s.Args)
			at = s.Args[2]
		}
	}
	g.close()
	return g, advance.Round(), nil
}

func (g *glyph) add(p fixed.Point26_6, on bool) {
	g.points = append(g.points, glyphPoint{int16(p.X.Round()), int16(-p.Y.Round()), on})
}

// cubic adds a cubic curve as four quadratic ones. The control point of each is chosen
// so that it has the cubic's middle; the error is below a unit for glyphs.
func (g *glyph) cubic(from fixed.Point26_6, args [3]fixed.Point26_6) {
	const pieces = 4
	at := func(t float64) (x, y float64) {
		u := 1 - t
		a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		return a*float64(from.X) + b*float64(args[0].X) + c*float64(args[1].X) + d*float64(args[2].X),
			a*float64(from.Y) + b*float64(args[0].Y) + c*float64(args[1].Y) + d*float64(args[2].Y)
	}
	point := func(x, y float64) fixed.Point26_6 {
		return fixed.Point26_6{X: fixed.Int26_6(math.Round(x)), Y: fixed.Int26_6(math.Round(y))}
	}
	for i := range pieces {
		x0, y0 := at(float64(i) / pieces)
		xm, ym := at((float64(i) + 0.5) / pieces)
		x1, y1 := at(float64(i+1) / pieces)
		g.add(point(2*xm-(x0+x1)/2, 2*ym-(y0+y1)/2), false)
		g.add(point(x1, y1), true)
	}
}

// close ends a contour. A last point equal to the first is left out.
func (g *glyph) close() {
	first := 0
	if n := len(g.contours); n > 0 {
		first = g.contours[n-1] + 1
	}
	if last := len(g.points) - 1; last > first && g.points[last] == g.points[first] {
		g.points = g.points[:last]
	}
	if len(g.points) > first {
		g.contours = append(g.contours, len(g.points)-1)
	}
}

func (g glyph) box() bounds {
	p := g.points[0]
	b := bounds{p.x, p.y, p.x, p.y}
	for _, p := range g.points {
		b.add(bounds{p.x, p.y, p.x, p.y})
	}
	return b
}

// write writes a simple glyph, padded to four bytes. Coordinates are words.
func (g glyph) write(b *bytes.Buffer) {
	if len(g.points) == 0 {
		return
	}
	box := g.box()
	put(b, int16(len(g.contours)), box.minX, box.minY, box.maxX, box.maxY)
	for _, end := range g.contours {
		put(b, uint16(end))
	}
	put(b, uint16(0)) // no instructions
	for _, p := range g.points {
		flag := uint8(0)
		if p.on {
			flag = 1
		}
		b.WriteByte(flag)
	}
	var x, y int16
	for _, p := range g.points {
		put(b, p.x-x)
		x = p.x
	}
	for _, p := range g.points {
		put(b, p.y-y)
		y = p.y
	}
	b.Write(make([]byte, -b.Len()&3))
}
