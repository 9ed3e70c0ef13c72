package display

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	xfont "golang.org/x/image/font"
)

// The sizes of text and the colours of figures.
const (
	titleSize = 15 * px
	labelSize = 12 * px
	smallSize = 11 * px
)

var (
	ink   = color.Gray{Y: 0x24}
	faint = color.Gray{Y: 0x60} // of labels; 6:1 on white
	rule  = color.Gray{Y: 0xe2}
)

// palette is that of Okabe and Ito, which colour-blind readers can distinguish.
// Neighbours also differ in lightness. Grey replaces the palette's yellow, which is
// invisible on white. A chart has at most as many series as there are colours.
var palette = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	color.RGBA{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // green
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // purple
	color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	ink,
	color.Gray{Y: 0x80},
}

func paletteColor(i int) color.Color { return palette[i%len(palette)] }

// textStyle is a style of the house font, placed by its left baseline.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.From(sans, size), XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: house}
}

// NewPlot returns a plot in the style of this package's charts: a light grid,
// no frame, ticks at round numbers. Add plotters to it as to any gonum plot.
func NewPlot() *plot.Plot { return newPlot(rule, rule) }

// newPlot is NewPlot with grid lines of these colours, nil for none.
func newPlot(vertical, horizontal color.Color) *plot.Plot {
	p := plot.New()
	restyle(p)
	p.Title.TextStyle.Font.Size = titleSize
	p.Title.TextStyle.Color = ink
	p.Legend.TextStyle.Font.Size = labelSize
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = labelSize
		a.Label.TextStyle.Color = faint
		a.Label.Padding = 7 * px
		a.Tick.Label.Font.Size = smallSize
		a.Tick.Label.Color = faint
		a.Tick.Length = 0
		a.Tick.Marker = evenTicks(0)
		a.LineStyle.Color = rule
		a.LineStyle.Width = 0
		a.Padding = 4 * px
	}
	grid := plotter.NewGrid()
	grid.Vertical = draw.LineStyle{Color: vertical, Width: px}
	grid.Horizontal = draw.LineStyle{Color: horizontal, Width: px}
	p.Add(grid)
	return p
}

// restyle sets every text of p in the house font, unless a font other than
// gonum's default was chosen, and measures it with fallback.
func restyle(p *plot.Plot) {
	if isDefault(p.Title.TextStyle) {
		p.Title.TextStyle.Font.Weight = xfont.WeightBold
	}
	for _, sty := range []*text.Style{
		&p.Title.TextStyle, &p.Legend.TextStyle,
		&p.X.Label.TextStyle, &p.X.Tick.Label,
		&p.Y.Label.TextStyle, &p.Y.Tick.Label,
	} {
		if isDefault(*sty) {
			sty.Font.Typeface, sty.Font.Variant = sans.Typeface, sans.Variant
		}
		if _, isPlain := sty.Handler.(text.Plain); isPlain || sty.Handler == nil {
			sty.Handler = house
		}
	}
}

func isDefault(sty text.Style) bool {
	return sty.Font.Typeface == plot.DefaultFont.Typeface && sty.Font.Variant == plot.DefaultFont.Variant
}
