package kernelspec

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// The logo, in units of a 64 by 64 square: a W of warp threads on a rounded
// tile, its right half in the colour that the documentation gives to lanes.
const (
	side   = 64.0
	corner = 14.0
	pen    = 3.6 // half the width of a line
)

type point struct{ x, y float64 }

var (
	tile  = color.NRGBA{0x0b, 0x4f, 0x6c, 0xff}
	left  = stroke{color.NRGBA{0xff, 0xff, 0xff, 0xff}, []point{{11, 19}, {22, 46}, {32, 23}}}
	right = stroke{color.NRGBA{0x76, 0xe0, 0x4b, 0xff}, []point{{32, 23}, {42, 46}, {53, 19}}}
)

type stroke struct {
	color  color.NRGBA
	points []point
}

func logos() []file {
	return []file{
		{"logo-32x32.png", logoPNG(32)},
		{"logo-64x64.png", logoPNG(64)},
		{"logo-svg.svg", logoSVG()},
	}
}

// logoPNG paints each pixel by its distance from the shapes, which smooths
// their edges.
func logoPNG(pixels int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, pixels, pixels))
	unit := side / float64(pixels)
	for py := range pixels {
		for px := range pixels {
			p := point{(float64(px) + 0.5) * unit, (float64(py) + 0.5) * unit}
			c := tile
			for _, s := range []stroke{right, left} {
				c = blend(c, s.color, coverage(s.distance(p)-pen, unit))
			}
			c.A = uint8(math.Round(255 * coverage(tileDistance(p), unit)))
			img.SetNRGBA(px, py, c)
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic("kernelspec: encode logo: " + err.Error()) // writing to a buffer does not fail
	}
	return buf.Bytes()
}

// coverage returns the part of a pixel inside a shape whose edge is this far from the
// pixel's centre.
func coverage(distance, unit float64) float64 {
	return min(max(0.5-distance/unit, 0), 1)
}

func blend(under, over color.NRGBA, share float64) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	return color.NRGBA{mix(under.R, over.R), mix(under.G, over.G), mix(under.B, over.B), 255}
}

// tileDistance is negative inside the rounded square.
func tileDistance(p point) float64 {
	x := math.Abs(p.x-side/2) - side/2 + corner
	y := math.Abs(p.y-side/2) - side/2 + corner
	return math.Hypot(max(x, 0), max(y, 0)) + min(max(x, y), 0) - corner
}

func (s stroke) distance(p point) float64 {
	d := math.Inf(1)
	for i := range s.points[1:] {
		a, b := s.points[i], s.points[i+1]
		dx, dy := b.x-a.x, b.y-a.y
		t := ((p.x-a.x)*dx + (p.y-a.y)*dy) / (dx*dx + dy*dy)
		t = min(max(t, 0), 1)
		d = min(d, math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy))
	}
	return d
}

func logoSVG() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %[1]g">`, side)
	fmt.Fprintf(&b, `<rect width="%g" height="%[1]g" rx="%g" fill="%s"/>`, side, corner, hex(tile))
	for _, s := range []stroke{right, left} {
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round" stroke-linejoin="round" points="`, hex(s.color), 2*pen)
		for _, p := range s.points {
			fmt.Fprintf(&b, "%g,%g ", p.x, p.y)
		}
		b.WriteString(`"/>`)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
