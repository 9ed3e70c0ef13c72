package palettepng

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// A picture of at most 256 colours stays as it is; of more, its most frequent colours do,
// and the others differ by less than an eighth.
func TestEncode(t *testing.T) {
	for _, colours := range []int{1, 256, 257, 4096} {
		img := image.NewRGBA(image.Rect(0, 0, 128, 64))
		for i := range 128 * 64 {
			c := color.RGBA{255, 255, 255, 255}
			if i%2 == 1 {
				n := i / 2 % max(1, colours-1)
				c = color.RGBA{uint8(n), uint8(n / 256 * 16), uint8(n % 7), 255}
			}
			if colours > 1 || i%2 == 0 {
				img.SetRGBA(i%128, i/128, c)
			} else {
				img.SetRGBA(i%128, i/128, color.RGBA{255, 255, 255, 255})
			}
		}
		encoded, err := Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		if _, paletted := got.(*image.Paletted); !paletted || got.Bounds() != img.Bounds() {
			t.Fatalf("%d colours: %T of %v, expected a palette and %v", colours, got, got.Bounds(), img.Bounds())
		}
		for y := range 64 {
			for x := range 128 {
				a, b := img.RGBAAt(x, y), color.RGBAModel.Convert(got.At(x, y)).(color.RGBA)
				most := 0
				for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
					most = max(most, d, -d)
				}
				if most > 31 || (colours <= 256 || (128*y+x)%2 == 0) && most > 0 {
					t.Fatalf("%d colours: pixel %d, %d is %v, expected %v", colours, x, y, b, a)
				}
			}
		}
	}
}
