package paper

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	"image/png"
	"slices"
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

// A picture takes at most the share mostOfPage of a page, so that two plots fit on one, unless it
// would be smaller than leastScale of its size, where its letters of 8 points are hard to read. A
// picture that does not fit a page with its caption is smaller still.
const (
	mostOfPage = 0.40
	leastScale = 0.46
	wholePage  = 0.95
)

// size is the size of a picture in points: that of the page, or less if it does not
// fit. The picture of the summary may fill the rest of the first page.
func (l *layout) size(n *html.Node, width, height float64, fr frame) (w, h float64) {
	const pointsPerPixel = 0.75
	w, h = width*pointsPerPixel, height*pointsPerPixel
	least := leastScale // of the size that the page gives
	if v, err := strconv.ParseFloat(attribute(n, "width"), 64); err == nil && v > 0 && width > 0 {
		w, h = v*pointsPerPixel, v*pointsPerPixel*height/width
		least *= max(1, width/v)
	}
	most := mostOfPage * textHeight
	if l.summary {
		most = textHeight - pictureMargin
		for _, it := range l.items {
			most -= it.height
		}
	}
	scale := min(1, fr.width/w, max(most/h, min(least, wholePage*textHeight/h)))
	return w * scale, h * scale
}

// pictureMargin is the space above and below a picture.
const pictureMargin = 8

func (l *layout) vectors(data []byte, n *html.Node, fr frame) error {
	d, err := parseSVG(data)
	if err != nil {
		return err
	}
	w, h := l.size(n, d.width, d.height, fr)
	l.pictureSpace()
	l.isTall(w, h)
	l.add(item{height: h, draw: func(p *printer, y float64) { d.draw(p.pdf, p.fonts, fr.x, y, w/d.width) }})
	l.space(4)
	return nil
}

// tallRow is a row of tall pictures with their captions: its items, and how wide it is.
type tallRow struct {
	from, end int
	width     float64
}

// isTall notes the width of a picture that is taller than mostOfPage of a page.
func (l *layout) isTall(w, h float64) {
	if h > mostOfPage*textHeight {
		l.tall = w
	}
}

// figure lays out a figure: beside the one before it if both are tall and narrow and nothing but
// space is between, so that pages do not stay half empty.
func (l *layout) figure(n *html.Node, fr frame) {
	const apart = 14
	row, start, anchor := l.row, len(l.items), l.anchor
	l.row, l.tall = tallRow{}, 0
	l.blocks(n, fr)
	if l.tall == 0 {
		return
	}
	l.row = tallRow{start, len(l.items), l.tall}
	more := row.width + apart
	spaceOnly := !slices.ContainsFunc(l.items[row.end:start], func(it item) bool { return !it.gap })
	if row.width == 0 || !spaceOnly || more+l.tall > fr.width {
		return
	}
	l.items, l.anchor = l.items[:start], anchor
	fr.x, fr.width = fr.x+more, fr.width-more
	l.blocks(n, fr)
	both := beside(slices.Clone(l.items[row.from:row.end]), slices.Clone(l.items[start:]))
	l.items = append(l.items[:row.from], both...)
	l.row = tallRow{row.from, len(l.items), more + l.tall}
	l.space(4)
}

// beside are two columns of items as one item, after their anchors.
func beside(columns ...[]item) (list []item) {
	height := 0.0
	for _, column := range columns {
		sum := 0.0
		for _, it := range column {
			sum += it.height
			if it.anchor != "" {
				list = append(list, item{anchor: it.anchor, keep: true})
			}
		}
		height = max(height, sum)
	}
	return append(list, item{height: height, draw: func(p *printer, y float64) {
		for _, column := range columns {
			at := y
			for _, it := range column {
				if it.draw != nil {
					it.draw(p, at)
				}
				at += it.height
			}
		}
	}})
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
	w, h := l.size(n, float64(config.Width), float64(config.Height), fr)
	l.pictureSpace()
	l.isTall(w, h)
	l.add(item{height: h, draw: func(p *printer, y float64) {
		name := fmt.Sprintf("picture at %d %g", p.page, y)
		options := fpdf.ImageOptions{ImageType: "PNG"}
		p.pdf.RegisterImageOptionsReader(name, options, bytes.NewReader(b.Bytes()))
		p.pdf.ImageOptions(name, fr.x, y, w, h, false, options, 0, "")
	}})
	l.space(4)
	return nil
}
