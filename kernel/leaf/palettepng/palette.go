// Package palettepng writes pictures as PNG with a palette. Package display calls it for charts,
// and a test of the committed results, with -update. It imports nothing of this project.
package palettepng

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// exact is how many of the most frequent colours are kept as they are: lines, fills, text and
// the grid, which is almost white.
const exact = 96

// Encode writes a picture as a PNG with a palette: a third of the bytes of one with
// whole colours. A chart has few colours, and between them those of smoothed edges. Of more
// than 256 the most frequent are kept, and the others become the nearest that is kept.
func Encode(img image.Image) ([]byte, error) {
	colours := map[color.NRGBA]int{}
	at := func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA) }
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			colours[at(x, y)]++
		}
	}
	colors, index := paletteOf(colours), map[color.NRGBA]uint8{}
	for c := range colours {
		index[c] = uint8(colors.Index(c))
	}
	small := image.NewPaletted(b, colors)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			small.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var buf bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err := e.Encode(&buf, small)
	return buf.Bytes(), err
}

// paletteOf are at most 256 colours, the most frequent first. Behind the exact ones is one of
// those that differ in their lowest bits only, of as few bits as it takes.
func paletteOf(colours map[color.NRGBA]int) color.Palette {
	byCount := slices.SortedFunc(maps.Keys(colours), func(a, b color.NRGBA) int {
		return cmp.Or(cmp.Compare(colours[b], colours[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	for bits := 0; ; bits++ {
		seen := map[color.NRGBA]bool{}
		var palette color.Palette
		for i, c := range byCount {
			key := color.NRGBA{c.R >> bits, c.G >> bits, c.B >> bits, c.A >> bits}
			if i < exact || !seen[key] {
				palette = append(palette, c)
			}
			seen[key] = true
		}
		if len(palette) <= 256 {
			return palette
		}
	}
}
