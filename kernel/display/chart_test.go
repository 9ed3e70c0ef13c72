package display

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

var nan = math.NaN()

var reduceLabels = []string{"tree_of_neighbours_v0", "reduce_v1_strided", "sums_two_passes"}

func latency() LatencyChart {
	return LatencyChart{
		Title: "Reduce <1>", Subtitle: "float32, n = 25 600 000", Axis: "time (us)", Labels: reduceLabels,
		Series: []Series{
			{"measured", []float64{279.04, 151.3, 33.1}, []float64{277, 150, 32.9}, []float64{281, 152, 33.4}},
			{"published", []float64{1147, 694, nan}, nil, nil},
		},
		Notes: []string{"emulator; seed 42"},
	}
}

func TestLatencyChart(t *testing.T) {
	data, metadata := Of(latency())
	checkPicture(t, data, metadata, plotWidth, heightOf(t, latency()))
	want := `Reduce <1>
float32, n = 25 600 000
time (us), log scale

                       measured    low   high  published
─────────────────────  ────────  ─────  ─────  ─────────
tree_of_neighbours_v0     279.0  277.0  281.0       1147
reduce_v1_strided         151.3  150.0  152.0        694
sums_two_passes           33.10  32.90  33.40          –

emulator; seed 42
no bar: no figure`
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
	texts := svgTexts(t, data)
	for _, want := range []string{"Reduce <1>", "measured", "published", "sums_two_passes", "279", "33.1", "1147", "time (us), log scale", "100", "emulator; seed 42"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in the picture: %q", want, texts)
		}
	}
}

// The limit has a line and a multiple beside each time near it; peers have a colour and a
// place of their own.
func TestLatencyChartWithLimitAndPeers(t *testing.T) {
	c := LatencyChart{Title: "Reduce", Axis: "time (us)",
		Labels: []string{"reduce_v0", "sums_in_one_pass", "sums_in_last_pass", "limit_read", "cub"},
		Series: []Series{{Name: "this run", Values: []float64{1256, 28.88, 27.09, 26.43, nan}}}}
	svg := func() string {
		data, _ := Of(c)
		picture, _ := data[imageSVG].(string)
		return picture
	}
	plain, height := svg(), heightOf(t, c)
	c.Limit, c.Peers = "limit_read", []string{"limit_read", "cub"}
	data, metadata := Of(c)
	checkPicture(t, data, metadata, plotWidth, heightOf(t, c))
	checkTextsInside(t, c)
	want := `Reduce
time (us), log scale

                   this run  of limit_read
─────────────────  ────────  ─────────────
reduce_v0              1256              –
sums_in_one_pass      28.88          1.09x
sums_in_last_pass     27.09          1.02x
limit_read            26.43          1.00x
cub                       –              –

no bar: no figure
dashed: limit_read, 26.4; x: multiples of it`
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
	texts := svgTexts(t, data)
	for _, want := range []string{"1256", "28.9  1.09x", "27.1  1.02x", "peers"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in the picture: %q", want, texts)
		}
	}
	const dashes, gray = "stroke-dasharray", "#9A9A9A"
	if strings.Count(svg(), dashes) != strings.Count(plain, dashes)+1 || strings.Count(svg(), gray) != 2 || strings.Contains(plain, gray) {
		t.Errorf("%d dashed lines and %d things in the peers' colour, expected one line, a bar and its sample",
			strings.Count(svg(), dashes)-strings.Count(plain, dashes), strings.Count(svg(), gray))
	}
	if at := (BarChart{Labels: c.Labels, peers: c.Peers}).places(); !slices.Equal(at, []float64{4 + peerGap, 3 + peerGap, 2 + peerGap, 1, 0}) || heightOf(t, c) <= height {
		t.Errorf("rows at %v in a height of %d, %d without peers", at, heightOf(t, c), height)
	}
	c.Limit, c.Peers = "limit_copy", []string{"limit_copy"}
	if svg() != plain {
		t.Error("a limit and a peer that are not there change the picture")
	}
}

// A row takes the room of its own bars: a figure that is missing makes the chart lower.
func TestRowsWithoutAFigureAreLower(t *testing.T) {
	none := math.NaN()
	chart := func(published ...float64) LatencyChart {
		return LatencyChart{Title: "t", Axis: "time (us)", Labels: []string{"a", "b", "c", "d"}, Notes: []string{"no bar: no figure"},
			Series: []Series{{Name: "ours", Values: []float64{1, 2, 3, 4}}, {Name: "published", Values: published}}}
	}
	all, two := chart(1, 2, 3, 4), chart(1, 2, none, none)
	two.Notes = nil // withMissing adds the line that all has
	if got, want := heightOf(t, all)-heightOf(t, two), 2*barHeight; got != want {
		t.Errorf("two bars that are missing take %d pixels, expected %d", got, want)
	}
	if got := (BarChart{Labels: two.Labels, Series: two.Series}).places(); !(got[0]-got[1] > got[2]-got[3]) || got[3] != 0 {
		t.Errorf("rows at %v, expected the lower two nearer to each other", got)
	}
}

func heightOf(t *testing.T, c LatencyChart) int {
	t.Helper()
	f, err := c.Figure()
	if err != nil {
		t.Fatal(err)
	}
	_, height, err := f.size(nil)
	if err != nil {
		t.Fatal(err)
	}
	return height
}

// A cell may change the plot of a figure before it shows it.
func TestFigureIsAPlot(t *testing.T) {
	f, err := latency().Figure()
	if err != nil {
		t.Fatal(err)
	}
	f.Plot.Title.Text, f.Width = "mine", 500
	data, metadata := Of(f)
	if size := metadata[imagePNG].(map[string]any); size["width"] != 500 {
		t.Errorf("size %v", size)
	}
	if !slices.Contains(svgTexts(t, data), "mine") {
		t.Errorf("the title was not changed")
	}
}

func TestChartHeightGrowsWithRows(t *testing.T) {
	heights := map[int]int{}
	for _, n := range []int{1, 20, 5000} {
		c := BarChart{Labels: make([]string, n), Series: []Series{{"a", make([]float64, n), nil, nil}}}
		f, err := c.Figure()
		if err != nil {
			t.Fatal(err)
		}
		_, heights[n], err = f.size(nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	if !(heights[1] < 200 && heights[20] > heights[1]+19*barHeight && heights[5000] <= maxSide) {
		t.Errorf("heights %v", heights)
	}
}

// Nothing of a chart lies outside it, whatever the lengths of its texts.
func TestChartTextsAreNotClipped(t *testing.T) {
	long := strings.Repeat("long words and a_name_without_an_end ", 8)
	c := latency()
	c.Axis = long
	c.Title, c.Subtitle, c.Notes = long, long, []string{long, strings.Repeat("字", 100)}
	c.Labels = []string{long, "a", strings.Repeat("x", 200)}
	c.Series[0].Name, c.Series[1].Name = "a name of a series that is rather long", long
	c.Series[1].Values = []float64{123_456_789, 1e-9, nan}
	checkTextsInside(t, c)
	checkTextsInside(t, BarChart{Axis: "x", Labels: reduceLabels, Series: []Series{{"a", []float64{-123_456_789, 0, 123_456_789}, nil, nil}}})
	checkTextsInside(t, LineChart{XAxis: "n", YAxis: "GB/s", LogX: true, LogY: true,
		X: []float64{1, 1e5, 1e10}, Series: []Series{{"a", []float64{1e-9, 1, 1e9}, nil, nil}}})
}

var svgText = regexp.MustCompile(`(?:<g transform="rotate\((-?[\d.]+)\)">\s*)?<text x="([-\d.e]+)"[^>]*font-size:([\d.]+)px[^>]*>([^<]*)</text>`)

// svgTexts returns the texts of a picture that are not turned.
func svgTexts(t *testing.T, data map[string]any) []string {
	t.Helper()
	svg, _ := data[imageSVG].(string)
	var texts []string
	for _, m := range svgText.FindAllStringSubmatch(svg, -1) {
		if m[1] == "" {
			texts = append(texts, html.UnescapeString(m[4]))
		}
	}
	if len(texts) == 0 {
		t.Fatalf("no text in the SVG of %v", data[textPlain])
	}
	return texts
}

func checkTextsInside(t *testing.T, v any) {
	t.Helper()
	data, _ := Of(v)
	svgTexts(t, data)
	for _, m := range svgText.FindAllStringSubmatch(data[imageSVG].(string), -1) {
		if m[1] != "" {
			continue
		}
		x, _ := strconv.ParseFloat(m[2], 64)
		size, _ := strconv.ParseFloat(m[3], 64)
		words := html.UnescapeString(m[4])
		width, _, _ := house.Box(words, font.From(sans, vg.Length(size)))
		right := x + float64(width)
		if limit := float64(plotWidth * px); x < 0 || right > limit {
			t.Errorf("%q from %.0f to %.0f of %.0f points", words, x, right, limit)
		}
	}
}

// Values that gonum/plot panics on, or that are no numbers.
func TestChartsWithOddValues(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, with which CI runs the race detector: this test has one goroutine")
	}
	inf := math.Inf(1)
	for _, values := range [][]float64{
		{0, 0, 0}, {nan, nan, nan}, {-1, -2, -3}, {inf, -inf, 1}, {5, 5, 5}, {0, nan, 1e300},
		{1e-300, 1, 1e300}, {math.SmallestNonzeroFloat64, 1, math.MaxFloat64}, {-1e300, 0, 1e300},
	} {
		low, high := slices.Clone(values), slices.Clone(values)
		low[0], high[2] = 0, nan
		s := []Series{{"with interval", values, low, high}, {"without", values, nil, nil}}
		for _, log := range []bool{false, true} {
			for _, c := range []interface{ Figure() (*Figure, error) }{
				BarChart{Labels: reduceLabels, Series: s, Log: log},
				LineChart{X: values, Series: s, LogX: log, LogY: log},
				LineChart{X: []float64{1, 2, 4}, Series: s, LogX: log, LogY: log},
			} {
				f, err := c.Figure()
				if err != nil {
					t.Fatal(err)
				}
				f.Width, f.Height = 400, 150 // quick to draw
				data, _ := Of(f)
				if data[imagePNG] == nil || data[imageSVG] == nil {
					t.Errorf("%T log %v of %v: %v", c, log, values, data[textPlain])
				}
				if svg, _ := data[imageSVG].(string); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
					t.Errorf("%T log %v of %v: an SVG with coordinates that are no numbers", c, log, values)
				}
			}
		}
	}
}

func TestFigureThatIsTooSmall(t *testing.T) {
	f, err := latency().Figure()
	if err != nil {
		t.Fatal(err)
	}
	f.Width, f.Height = 150, 100
	if got := textOf(t, f); !strings.HasSuffix(got, "display: plot not drawn: no room for the data beside its labels: make the figure larger") {
		t.Errorf("text:\n%s", got)
	}
}

func TestChartErrors(t *testing.T) {
	s := func(values, low, high []float64) []Series { return []Series{{"a", values, low, high}} }
	three, two := []float64{1, 2, 3}, []float64{1, 2}
	for _, c := range []struct {
		chart any
		want  string
	}{
		{BarChart{}, "display: bar chart: 0 labels and 0 series, expected at least 1 of each"},
		{BarChart{Labels: reduceLabels, Series: s(two, nil, nil)}, `display: bar chart: series "a" has 2 values, expected 3 as there are labels`},
		{LatencyChart{Labels: reduceLabels, Series: s(three, two, nil)}, `display: bar chart: series "a" has 2 lower and 0 upper ends, expected 3 or none`},
		{LineChart{X: two, Series: s(three, nil, nil)}, `display: line chart: series "a" has 3 values, expected 2 as there are points of X`},
	} {
		if got := textOf(t, c.chart); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestLineChart(t *testing.T) {
	data, metadata := Of(LineChart{
		Title: "GEMM", XAxis: "M = N = K", YAxis: "TFLOP/s", X: []float64{256, 1024, 4096}, LogX: true,
		Series: []Series{{"naive", []float64{3, nan, 6.2}, nil, nil}, {"cuBLAS", []float64{3.9, 38, 51}, nil, nil}},
	})
	checkPicture(t, data, metadata, plotWidth, plotHeight)
	want := "GEMM\nTFLOP/s\n\nM = N = K  naive  cuBLAS\n─────────  ─────  ──────\n" +
		"      256  3.000   3.900\n     1024      –   38.00\n     4096  6.200   51.00"
	if got := data[textPlain]; got != want {
		t.Errorf("text:\n%s", got)
	}
	for _, want := range []string{"256", "4096", "50", "cuBLAS", "M = N = K, log scale"} {
		if !slices.Contains(svgTexts(t, data), want) {
			t.Errorf("no %q in the picture", want)
		}
	}
}

func TestSizeTicks(t *testing.T) {
	labels := func(xs ...float64) string {
		var out []string
		for _, tick := range sizeTicks(xs).Ticks(slices.Min(xs), slices.Max(xs)) {
			if !tick.IsMinor() {
				out = append(out, tick.Label)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{labels(256, 512, 4096), "256 512 4096"},
		{labels(1<<10, 1<<20), "2^10 2^20"},
		{labels(1, 1000, 1e6), "1 10 100 1000 10 000 100 000 1 000 000"},
	} {
		if c.got != c.want {
			t.Errorf("labels %q, want %q", c.got, c.want)
		}
	}
}

// A glyph that no font has is reported, and the SVG keeps the character for
// a reader's own fonts.
func TestMissingGlyphs(t *testing.T) {
	const odd = "\U0010fffd" // private use: in no font
	c := latency()
	c.Title = "a" + odd + "b\x00\x1b"
	data, metadata := Of(c)
	checkPicture(t, data, metadata, plotWidth, heightOf(t, c))
	if got := data[textPlain].(string); !strings.Contains(got, "Some characters are drawn as boxes") || !strings.HasSuffix(got, "They are: "+odd) {
		t.Errorf("text:\n%s", got)
	}
	if !strings.Contains(data[imageSVG].(string), ">"+odd+"</text>") {
		t.Errorf("the character is not in the SVG")
	}
	face := font.DefaultCache.Lookup(sans, 10)
	var got []string
	for _, r := range runs(face, "ab"+odd+odd+"c") {
		got = append(got, fmt.Sprint(r.text, r.missing))
	}
	if want := []string{"abfalse", odd + odd + "true", "cfalse"}; !slices.Equal(got, want) {
		t.Errorf("runs %q, want %q", got, want)
	}
}

// Goroutines of a cell draw at once, and fonts are read by the first that needs them.
func TestDrawAtOnce(t *testing.T) {
	var pictures [2]map[string]any
	var all sync.WaitGroup
	for i := range pictures {
		all.Go(func() {
			f, err := LineChart{XAxis: fmt.Sprint("axis ", i), X: []float64{1, 2}, Series: []Series{{"a", []float64{1, 2}, nil, nil}}}.Figure()
			if err != nil {
				t.Error(err)
				return
			}
			f.Width, f.Height = 400, 200
			pictures[i], _ = Of(f)
		})
	}
	all.Wait()
	for i, picture := range pictures {
		if want := fmt.Sprint("axis ", i); !slices.Contains(svgTexts(t, picture), want) {
			t.Errorf("no %q in %q", want, svgTexts(t, picture))
		}
	}
}

// moved has bars, with a title and a note.
type moved struct{}

func (moved) Title() string   { return "bytes moved" }
func (moved) Notes() []string { return []string{"counted"} }
func (moved) Bars() (axis string, labels, names []string, values [][]float64) {
	return "MB", []string{"first", "second"}, []string{"shared", "global"}, [][]float64{{1, 2}, {3, 4}}
}

// A value with a Bars method is shown as the bar chart that it describes.
func TestBarsOfValue(t *testing.T) {
	chart := BarChart{Title: "bytes moved", Axis: "MB", Labels: []string{"first", "second"}, Notes: []string{"counted"},
		Series: []Series{{Name: "shared", Values: []float64{1, 2}}, {Name: "global", Values: []float64{3, 4}}}}
	got, _ := Of(moved{})
	want, _ := Of(chart)
	if got[textPlain] != want[textPlain] || got["image/svg+xml"] == nil || got["image/svg+xml"] != want["image/svg+xml"] {
		t.Errorf("shown as %q, expected %q with its picture", got[textPlain], want[textPlain])
	}
}
