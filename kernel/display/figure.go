package display

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// Figure is a plot as it is shown, at a size of Width x Height CSS pixels. Where
// they are zero the width is 700, and the height what a chart's rows need, or
// 420. The charts of this package make figures; a cell may change their Plot
// before it shows them.
//
// The figure draws the plot's title and axis labels itself: gonum centres
// titles, clips them, and pads a log axis for its label at a wrong place.
type Figure struct {
	Plot          *plot.Plot
	Width, Height int
	Notes         []string // lines below

	subtitle string
	legend   []legendEntry // a line below the title
	values   string        // what the numbers are, with their unit
	numbers  *grid         // the chart's data; nil: read from the plot

	dataHeight int  // CSS pixels that the data needs; 0: any
	vectors    bool // draw no PNG
}

type legendEntry struct {
	name  string
	color color.Color
	mark  draw.GlyphDrawer // on a line; nil: a square
}

const (
	plotWidth    = 700
	plotHeight   = 420
	figureMargin = 14 * px
	leastSide    = 8 * px // of the data
)

// NewFigure shows p at a size of its own.
func NewFigure(p *plot.Plot, width, height int) *Figure {
	return &Figure{Plot: p, Width: width, Height: height}
}

// MIMEBundle draws the figure: PNG for readers that show no SVG of a notebook
// that is not trusted, SVG, and the numbers as text. A plot that cannot be
// drawn gives the numbers and the reason.
func (f *Figure) MIMEBundle() (data, metadata map[string]any) { return Of(f) }

func (f *Figure) drawing() (data, metadata map[string]any, err error) {
	if f == nil || f.Plot == nil {
		err = errors.New("display: figure: no plot")
		return plain(err.Error()), nil, err
	}
	english := f
	f = f.translated()
	all := seriesOf(f.Plot)
	numbers := f.text(all)
	width, height, err := f.size(all)
	var pic picture
	if err == nil && f.vectors {
		pic = picture{width: width, height: height}
		pic.svg, err = renderSVG(width, height, func(c draw.Canvas) error { return f.draw(c, prepare(f.Plot, all), nil) })
	} else if err == nil {
		pic, err = render(width, height, func(c draw.Canvas) error { return f.draw(c, prepare(f.Plot, all), nil) })
	}
	if err == nil && len(pic.missing) > 0 && f != english { // the SVG is set by the reader's fonts
		pic.png, pic.missing, err = renderPNG(width, height, func(c draw.Canvas) error { return english.draw(c, prepare(english.Plot, all), nil) })
	}
	if err == nil && len(pic.missing) > 0 {
		note := missingNote()
		numbers += "\n\n" + note + " They are: " + string(pic.missing)
		pic.png, _, err = renderPNG(width, height, func(c draw.Canvas) error { return f.draw(c, prepare(f.Plot, all), []string{note}) })
	}
	if err != nil {
		err = fmt.Errorf("display: plot not drawn: %w", err)
		return plain(fmt.Sprintf("%s\n\n%v", numbers, err)), nil, err
	}
	data, metadata = pic.bundle(numbers)
	return data, metadata, nil
}

// size is the figure's size in CSS pixels. To find the height that a chart needs, it
// draws titles, labels and legend on a page that is surely too tall.
func (f *Figure) size(all []series) (width, height int, err error) {
	defer recoverDrawing(&err)
	width, height = f.Width, f.Height
	if width == 0 {
		width = plotWidth
	}
	if height == 0 {
		height = plotHeight
	}
	if f.Height != 0 || f.dataHeight == 0 {
		return width, height, nil
	}
	const tall = 2 * maxSide * px
	page := vg.Rectangle{Max: vg.Point{X: vg.Length(width) * px, Y: tall}}
	c := draw.Canvas{Canvas: new(recorder.Canvas), Rectangle: page}
	p := prepare(f.Plot, all)
	f.drawSurroundings(&c, p, nil)
	area := p.DataCanvas(c)
	around := int(math.Ceil(float64((tall - area.Size().Y) / px)))
	return width, min(around+f.dataHeight, maxSide), nil
}

func (f *Figure) text(all []series) string {
	s := ""
	if f.numbers == nil {
		s = plotText(f.Plot, all)
	} else {
		g := *f.numbers
		g.title = strings.Join(nonempty(f.Plot.Title.Text, f.subtitle, f.values), "\n")
		s = g.text()
	}
	if len(f.Notes) > 0 {
		s += "\n\n" + strings.Join(f.Notes, "\n")
	}
	return s
}

// draw draws the figure. p is the prepared copy and is changed.
func (f *Figure) draw(c draw.Canvas, p *plot.Plot, notes []string) error {
	f.drawSurroundings(&c, p, notes)
	area := p.DataCanvas(c)
	if size := area.Size(); !(size.X >= leastSide && size.Y >= leastSide) { // NaN if labels fill it
		return errors.New("no room for the data beside its labels: make the figure larger")
	}
	p.Draw(c)
	return nil
}

// drawSurroundings draws everything except the plot, from the sides inwards. c is
// then the space for the plot.
func (f *Figure) drawSurroundings(c *draw.Canvas, p *plot.Plot, notes []string) {
	*c = draw.Crop(*c, figureMargin, -figureMargin, figureMargin, -figureMargin*2/3)
	title := p.Title.TextStyle
	title.XAlign, title.YAlign = draw.XLeft, draw.YBottom
	drawn := fillFromTop(c, p.Title.Text, title)
	p.Title.Text = ""
	drawn = fillFromTop(c, f.subtitle, textStyle(labelSize, faint)) || drawn
	if drawn {
		c.Max.Y -= 8 * px
	}
	f.drawLegend(c)
	drawNotes(c, append(slices.Clone(f.Notes), notes...))
	f.drawLabels(c, p)
}

// drawLabels draws the axes' labels beside the middle of the data, and removes their
// space from c and the labels from p.
func (f *Figure) drawLabels(c *draw.Canvas, p *plot.Plot) {
	x, y := p.X.Label, p.Y.Label
	p.X.Label.Text, p.Y.Label.Text = "", ""
	x.Text = shorten(x.Text, x.TextStyle, c.Max.X-c.Min.X)
	y.Text = shorten(y.Text, y.TextStyle, c.Max.Y-c.Min.Y)
	if x.Text != "" {
		c.Min.Y += x.TextStyle.Height(x.Text) + x.Padding
	}
	if y.Text != "" {
		c.Min.X += y.TextStyle.Height(y.Text) + y.Padding
	}
	area := p.DataCanvas(*c)
	sty := x.TextStyle
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YTop
	half := sty.Width(x.Text) / 2
	middle := min(max(area.Center().X, c.Min.X+half), c.Max.X-half)
	c.FillText(sty, vg.Point{X: middle, Y: c.Min.Y - x.Padding}, x.Text)
	sty = y.TextStyle
	sty.Rotation += math.Pi / 2
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YBottom
	c.FillText(sty, vg.Point{X: c.Min.X - y.Padding, Y: area.Center().Y}, y.Text)
}

// fillFromTop sets wrapped text at the top of c and removes its space from c.
func fillFromTop(c *draw.Canvas, s string, sty draw.TextStyle) (drawn bool) {
	for _, paragraph := range strings.Split(s, "\n") {
		for _, line := range wrap(paragraph, sty, c.Max.X-c.Min.X) {
			c.Max.Y -= sty.Font.Size * 1.3
			c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Max.Y}, line)
			drawn = true
		}
	}
	return drawn
}

// drawLegend sets the series' names in a line, or in more if they need it.
func (f *Figure) drawLegend(c *draw.Canvas) {
	const space = 6 * px
	sty := textStyle(labelSize, ink)
	x := c.Max.X
	for _, entry := range f.legend {
		entry.name = shorten(entry.name, sty, c.Max.X-c.Min.X-entry.swatch()-space)
		width := entry.swatch() + space + sty.Width(entry.name)
		if x+width > c.Max.X { // the first entry always starts a line
			x = c.Min.X
			c.Max.Y -= sty.Font.Size * 1.5
		}
		entry.draw(c, vg.Point{X: x, Y: c.Max.Y + 0.45*sty.Font.Size})
		c.FillText(sty, vg.Point{X: x + entry.swatch() + space, Y: c.Max.Y}, entry.name)
		x += width + 3*space
	}
	if len(f.legend) > 0 {
		c.Max.Y -= 10 * px
	}
}

// swatch is the width of the entry's sample.
func (e legendEntry) swatch() vg.Length {
	if e.mark != nil {
		return 22 * px
	}
	return 11 * px
}

// draw draws the entry's sample, whose left end's middle is at.
func (e legendEntry) draw(c *draw.Canvas, at vg.Point) {
	width := e.swatch()
	if e.mark != nil {
		c.StrokeLine2(lineStyle(e.color), at.X, at.Y, at.X+width, at.Y)
		c.DrawGlyphNoClip(markStyle(e.color, e.mark), vg.Point{X: at.X + width/2, Y: at.Y})
		return
	}
	c.SetColor(e.color)
	c.Fill(vg.Rectangle{
		Min: vg.Point{X: at.X, Y: at.Y - width/2}, Max: vg.Point{X: at.X + width, Y: at.Y + width/2},
	}.Path())
}

func drawNotes(c *draw.Canvas, notes []string) {
	sty := textStyle(smallSize, faint)
	var lines []string
	for _, note := range notes {
		lines = append(lines, wrap(note, sty, c.Max.X-c.Min.X)...)
	}
	for i := range lines {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: c.Min.Y}, lines[len(lines)-1-i])
		c.Min.Y += sty.Font.Size * 1.35
	}
	if len(lines) > 0 {
		c.Min.Y += 6 * px
	}
}
