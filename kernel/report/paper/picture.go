package paper

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	"image/png"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	_ "golang.org/x/image/webp"
	"golang.org/x/net/html"
)

// mostPixels is the size from which a picture is not decoded.
const mostPixels = 64 << 20

// picture sets a picture of a data URI: an SVG as vectors, others as pixels. One that
// cannot be read is a line with its description.
func (l *layout) picture(n *html.Node, fr frame) {
	mime, data, err := dataOf(attribute(n, "src"))
	if err == nil {
		if mime == "image/svg+xml" {
			err = l.vectors(data, n, fr)
		} else {
			err = l.pixels(data, n, fr)
		}
	}
	if err != nil {
		s := fr.style
		s.italic, s.color = true, soft
		l.paragraph([]span{{s, fmt.Sprintf("[%s: not drawn: %v]", attribute(n, "alt"), err)}}, fr)
	}
}

func dataOf(uri string) (mime string, data []byte, err error) {
	head, body, _ := strings.Cut(strings.TrimPrefix(uri, "data:"), ",")
	mime, _, _ = strings.Cut(head, ";")
	data, err = base64.StdEncoding.DecodeString(body)
	return mime, data, err
}

// mostOfPage is the share of a page that a picture takes at most: a page before a picture
// that fills one would stay half empty, and two plots fit on one.
const mostOfPage = 0.40

// size is the size of a picture in points: that of the page, or less if it does not
// fit.
func (fr frame) size(n *html.Node, width, height float64) (w, h float64) {
	const pointsPerPixel = 0.75
	w, h = width*pointsPerPixel, height*pointsPerPixel
	if v, err := strconv.ParseFloat(attribute(n, "width"), 64); err == nil && v > 0 && width > 0 {
		w, h = v*pointsPerPixel, v*pointsPerPixel*height/width
	}
	scale := min(1, fr.width/w, mostOfPage*textHeight/h)
	return w * scale, h * scale
}

func (l *layout) vectors(data []byte, n *html.Node, fr frame) error {
	d, err := parseSVG(data)
	if err != nil {
		return err
	}
	w, h := fr.size(n, d.width, d.height)
	l.pictureSpace()
	l.add(item{height: h, draw: func(p *printer, y float64) { d.draw(p.pdf, p.fonts, fr.x, y, w/d.width) }})
	l.space(4)
	return nil
}

// pictureSpace is the space above a picture, on the page of its caption.
func (l *layout) pictureSpace() {
	caption := len(l.items) > 0 && l.items[len(l.items)-1].keep
	l.space(4)
	if caption {
		l.keepNext()
	}
}

func (l *layout) pixels(data []byte, n *html.Node, fr frame) error {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > mostPixels/config.Height {
		return fmt.Errorf("%d x %d pixels, expected at most %d", config.Width, config.Height, mostPixels)
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	// Written again: the library reads neither 16 bits a channel nor interlaced files.
	flat := image.NewNRGBA(decoded.Bounds())
	for y := flat.Rect.Min.Y; y < flat.Rect.Max.Y; y++ {
		for x := flat.Rect.Min.X; x < flat.Rect.Max.X; x++ {
			flat.Set(x, y, decoded.At(x, y))
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, flat); err != nil {
		return err
	}
	w, h := fr.size(n, float64(config.Width), float64(config.Height))
	l.pictureSpace()
	l.add(item{height: h, draw: func(p *printer, y float64) {
		name := fmt.Sprintf("picture at %d %g", p.page, y)
		options := fpdf.ImageOptions{ImageType: "PNG"}
		p.pdf.RegisterImageOptionsReader(name, options, bytes.NewReader(b.Bytes()))
		p.pdf.ImageOptions(name, fr.x, y, w, h, false, options, 0, "")
	}})
	l.space(4)
	return nil
}
