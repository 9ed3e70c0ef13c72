package display

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

func line(t *testing.T, xys ...plotter.XY) *plotter.Line {
	t.Helper()
	l, err := plotter.NewLine(plotter.XYs(xys))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPlotBundle(t *testing.T) {
	p := plot.New()
	p.Title.Text = "Latency & size <1>"
	p.X.Label.Text, p.Y.Label.Text = "n", "time (us)"
	l := line(t, plotter.XY{X: 1, Y: 279.5}, plotter.XY{X: 2, Y: 151}, plotter.XY{X: 3, Y: 48})
	p.Add(l)
	p.Legend.Add("v0 <b>", l)
	data, metadata := Of(p)
	checkPicture(t, data, metadata, plotWidth, plotHeight)
	want := `Latency & size <1>

x: n, 1 to 3
y: time (us), 48 to 279.5

v0 <b>, 3 points

x      y
─  ─────
1  279.5
2  151.0
3  48.00`
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
}

// checkPicture checks what sharing depends on: a PNG of twice the size that
// the metadata gives, and an SVG that is XML, white below, with a font stack
// that ends in sans-serif.
func checkPicture(t *testing.T, data, metadata map[string]any, width, height int) {
	t.Helper()
	img := decodePNG(t, data)
	if got := img.Bounds().Size(); got.X != 2*width || got.Y != 2*height {
		t.Errorf("PNG is %v, expected twice %d x %d", got, width, height)
	}
	if r, g, b, a := img.At(0, 0).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff || a != 0xffff {
		t.Errorf("PNG's corner is not white")
	}
	size := metadata[imagePNG].(map[string]any)
	if size["width"] != width || size["height"] != height {
		t.Errorf("metadata %v, expected %d x %d", metadata, width, height)
	}
	svg := data[imageSVG].(string)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
	if !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, `<rect width="100%" height="100%" fill="#ffffff"/>`) {
		t.Errorf("SVG starts with %s", svg[:300])
	}
	if root, _, _ := strings.Cut(svg, ">"); !strings.Contains(root, "font-weight:normal;font-style:normal;") {
		t.Errorf("a page around the picture may make its texts bold: %s", root)
	}
	if texts, stacks := strings.Count(svg, "<text"), strings.Count(svg, "sans-serif;"); texts == 0 || stacks != 1 || strings.Count(svg, "font-family:") != 1 {
		t.Errorf("%d texts, %d font stacks that end in sans-serif: expected one for all", texts, stacks)
	}
}

// A line in two fonts is two texts, and browsers drop the blank at the end of one unless the text
// itself keeps it.
func TestBlanksAtEndsOfTexts(t *testing.T) {
	const text = `<text x="1" y="2"` + "\n\t" + `style="fill:#000">%s</text>`
	for words, kept := range map[string]bool{"of": false, "of float32": false, " of": true, "of ": true, "": false} {
		svg := string(finishSVG(fmt.Appendf(nil, `<svg xlink">`+text, words), 10, 10))
		if strings.Contains(svg, "white-space:pre") != kept || !strings.HasSuffix(svg, ">"+words+"</text>") {
			t.Errorf("%q: %s", words, svg)
		}
	}
}

// What gonum/plot panics on is drawn.
func TestLogPlotsDoNotPanic(t *testing.T) {
	bars, err := plotter.NewBarChart(plotter.Values{0, -3, 48, 929_000}, 20)
	if err != nil {
		t.Fatal(err)
	}
	xys := plotter.XYs{{X: 1, Y: 5}, {X: 2, Y: 50}}
	errorBars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{xys, plotter.YErrors{{Low: 5, High: 1}, {Low: 60, High: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, add := range map[string][]plot.Plotter{
		"bars": {bars}, "error bars": {errorBars}, "nothing": nil,
		"zero":  {line(t, plotter.XY{X: 0, Y: 0}, plotter.XY{X: 1, Y: 1})},
		"flat":  {line(t, plotter.XY{X: 0.5, Y: 0.5}, plotter.XY{X: 0.5, Y: 0.5})},
		"below": {line(t, plotter.XY{X: -2, Y: -2}, plotter.XY{X: -1, Y: -1})},
	} {
		p := plot.New()
		p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
		p.Y.Tick.Marker = plot.LogTicks{}
		p.Add(add...)
		data, metadata := Of(NewFigure(p, 300, 200))
		if data[imagePNG] == nil {
			t.Errorf("%s: not drawn:\n%s", name, data[textPlain])
			continue
		}
		checkPicture(t, data, metadata, 300, 200)
	}
}

type broken struct{}

func (broken) Plot(_ draw.Canvas, _ *plot.Plot) { panic("no ink") }

func TestPlotThatPanics(t *testing.T) {
	p := plot.New()
	p.Title.Text = "T"
	p.Add(line(t, plotter.XY{X: 1, Y: 7}, plotter.XY{X: 2, Y: 8}), broken{})
	got := textOf(t, p)
	for _, want := range []string{"T\n", "1  7", "display: plot not drawn: panic: no ink"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	textOf(t, (*plot.Plot)(nil))
	textOf(t, &plot.Plot{})
	if got := textOf(t, NewFigure(plot.New(), 1<<20, 10)); !strings.Contains(got, "expected 1 to") {
		t.Errorf("a huge figure: %q", got)
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{
		{1, 1e6}, {0.7, 3}, {48, 52}, {48, 929_000}, {1e-300, 1e300}, {30, 400}, {2, 9}, {99, 101}, {1e-9, 1},
	} {
		labels := 0
		for _, tick := range (logTicks{}).Ticks(c.low, c.high) {
			if tick.Value < c.low*(1-1e-6) || tick.Value > c.high*(1+1e-6) {
				t.Errorf("%v: tick at %v", c, tick.Value)
			}
			if !tick.IsMinor() {
				labels++
			}
		}
		if labels < minLabels || labels > maxLabels+3 {
			t.Errorf("%v: %d labels", c, labels)
		}
	}
	for _, c := range []struct{ low, high float64 }{{0, 1}, {-1, 1}, {1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if ticks := (logTicks{}).Ticks(c.low, c.high); len(ticks) != 0 {
			t.Errorf("%v: ticks %v", c, ticks)
		}
	}
}

// lists is a plotter whose lists are not of one length.
type lists struct {
	Weights plotter.Values
	Points  plotter.XYs
	Names   []string
}

func (lists) Plot(draw.Canvas, *plot.Plot) {}

func TestSeriesOfUnknownPlotter(t *testing.T) {
	p := plot.New()
	p.Add(lists{plotter.Values{4, 5}, plotter.XYs{{X: 1, Y: 2}}, []string{"a"}})
	p.NominalX("zero", "one")
	got := textOf(t, p)
	if want := "display.lists, 2 points\n\n      value\n────  ─────\nzero      4\none       5"; !strings.HasSuffix(got, want) {
		t.Errorf("text:\n%s", got)
	}
}
