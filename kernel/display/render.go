package display

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"warpbook/kernel/leaf/lazyregexp"
	"warpbook/kernel/leaf/palettepng"
)

// Sizes of figures are in CSS pixels, 96 to an inch; gonum's are in points.
const (
	px       = vg.Inch / 96
	pngScale = 2
	maxSide  = 8000 // CSS pixels; a larger PNG would take hundreds of megabytes
)

// page is a canvas that sets text with font fallback and collects missing glyphs.
type page struct {
	vg.CanvasSizer
	boxes   bool          // draw a box for a missing glyph; else leave it to the reader's fonts
	missing map[rune]bool // owned by the one goroutine that draws
}

func (p *page) FillString(f font.Face, pt vg.Point, s string) {
	for _, r := range runs(f, strings.Map(printable, s)) {
		if r.missing {
			p.noteMissing(r, pt)
		}
		if !r.missing || !p.boxes {
			p.CanvasSizer.FillString(r.face, pt, r.text)
		}
		pt.X += r.width()
	}
}

func (p *page) noteMissing(r run, pt vg.Point) {
	size := r.face.Font.Size
	for _, c := range r.text {
		p.missing[c] = true
		width := size * vg.Length(runeWidth(c)) / 2
		if p.boxes && width > 0 {
			p.SetLineWidth(size / 16)
			p.Stroke(vg.Rectangle{
				Min: vg.Point{X: pt.X + width*0.1, Y: pt.Y}, Max: vg.Point{X: pt.X + width*0.9, Y: pt.Y + size*0.75},
			}.Path())
		}
		pt.X += width
	}
}

// printable drops control characters, which XML does not allow.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
		return -1
	}
	return r
}

// picture is a drawing in both formats.
type picture struct {
	png, svg      []byte
	width, height int    // CSS pixels
	missing       []rune // drawn as boxes in the PNG, sorted
}

// render draws a picture of width x height CSS pixels, once per format. A
// panic of the drawing code is returned as an error.
func render(width, height int, paint func(draw.Canvas) error) (pic picture, err error) {
	pic = picture{width: width, height: height}
	if pic.png, pic.missing, err = renderPNG(width, height, paint); err != nil {
		return pic, err
	}
	pic.svg, err = renderSVG(width, height, paint)
	return pic, err
}

func renderPNG(width, height int, paint func(draw.Canvas) error) (out []byte, missing []rune, err error) {
	if width <= 0 || height <= 0 || width > maxSide || height > maxSide {
		return nil, nil, fmt.Errorf("size %d x %d pixels, expected 1 to %d", width, height, maxSide)
	}
	defer recoverDrawing(&err)
	size := vgimg.UseWH(vg.Length(width)*px, vg.Length(height)*px)
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(size, vgimg.UseDPI(96*pngScale))}
	if missing, err = paintPage(c, true, paint); err != nil {
		return nil, nil, err
	}
	out, err = palettepng.Encode(c.Image())
	return out, missing, err
}

func renderSVG(width, height int, paint func(draw.Canvas) error) (out []byte, err error) {
	defer recoverDrawing(&err)
	c := vgsvg.New(vg.Length(width)*px, vg.Length(height)*px)
	if _, err = paintPage(c, false, paint); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	_, err = c.WriteTo(&buf)
	return finishSVG(buf.Bytes(), width, height), err
}

func recoverDrawing(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

func paintPage(c vg.CanvasSizer, boxes bool, paint func(draw.Canvas) error) (missing []rune, err error) {
	p := &page{CanvasSizer: c, boxes: boxes, missing: map[rune]bool{}}
	canvas := draw.New(p)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	err = paint(canvas)
	return slices.Sorted(maps.Keys(p.missing)), err
}

// fontTwins are fonts with the same metrics as gonum's, for readers that do
// not have it, and fonts with Chinese glyphs.
var fontTwins = map[string]string{
	"Liberation Sans":  "Arial,Helvetica,",
	"Liberation Serif": "'Times New Roman',Times,",
	"Liberation Mono":  "'Courier New',monospace,",
}

const chineseFonts = "'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',"

// What vgsvg writes at each text: its font, and a group that turns it, also by nothing.
var (
	fontFamily = lazyregexp.New(`font-family:([^;"]+);font-variant:[a-z-]*;`)
	blankEnd   = lazyregexp.New(`(<text [^>]*style=")([^>]*>(?: [^<]*|[^<]* )</text>)`)
	unturned   = lazyregexp.New(`(?s)<g transform="rotate\(0\)">\s*(<text.*?</text>)\s*</g>`)
)

// The font of texts that name none: of the root, or those of a page that holds the picture in a
// heading would be bold.
const (
	commonFont = "Liberation Sans"
	upright    = "font-weight:normal;font-style:normal;"
)

func fontStack(family string) string {
	return "font-family:'" + family + "'," + fontTwins[family] + chineseFonts + "sans-serif;"
}

// finishSVG makes the SVG usable alone and inside a page: no XML prologue, a size in CSS pixels that shrinks with a narrow page, font
// stacks that end in sans-serif, and the blanks at the ends of texts: a line in two fonts is a text for each. Text stays text: it can be searched and
// read aloud, and is a tenth of the bytes of outlines. What all texts share stands once: a picture of many numbers is a third as large.
func finishSVG(svg []byte, width, height int) []byte {
	_, body, _ := bytes.Cut(svg, []byte("xlink\">"))
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" `+
		`width="%d" height="%d" viewBox="0 0 %g %g" style="max-width:100%%;height:auto;%s%s" xml:space="preserve">`+"\n"+
		`<rect width="100%%" height="100%%" fill="#ffffff"/>`,
		width, height, (vg.Length(width) * px).Points(), (vg.Length(height) * px).Points(), fontStack(commonFont), upright)
	body = fontFamily().ReplaceAllFunc(body, func(m []byte) []byte {
		if family := string(fontFamily().FindSubmatch(m)[1]); family != commonFont {
			return []byte(fontStack(family))
		}
		return nil
	})
	body = bytes.ReplaceAll(body, []byte(upright), nil)
	body = blankEnd().ReplaceAll(body, []byte("${1}white-space:pre;$2")) // browsers ignore xml:space of the root
	body = unturned().ReplaceAll(body, []byte("$1"))
	return append([]byte(head), body...)
}

// bundle is the MIME bundle of the picture beside its numbers as text.
func (pic picture) bundle(numbers string) (data, metadata map[string]any) {
	size := map[string]any{"width": pic.width, "height": pic.height}
	data = plain(numbers)
	data[imageSVG] = string(pic.svg)
	metadata = map[string]any{imageSVG: size}
	if pic.png != nil {
		data[imagePNG], metadata[imagePNG] = base64.StdEncoding.EncodeToString(pic.png), maps.Clone(size)
	}
	return data, metadata
}
