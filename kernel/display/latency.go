package display

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LatencyChart is a BarChart on a logarithmic axis: times of variants beside
// the published ones, over orders of magnitude.
type LatencyChart struct {
	Title, Subtitle string
	Axis            string // with its unit: "time (us)"
	Labels          []string
	Series          []Series
	Notes           []string

	// Limit is the label of the kernel that only moves the data. A dashed line stands at
	// its time in the first series, and each time of that series below ten times as much
	// has its multiple of the limit beside it: on a logarithmic axis the fast ones look
	// the same. A label that is not there draws nothing.
	Limit string

	// Peers are the labels of kernels that are not the chart's own. They have another
	// colour, and a gap sets them apart.
	Peers []string
}

// Figure makes the chart; its error says which list has the wrong length.
func (c LatencyChart) Figure() (*Figure, error) {
	return BarChart{Title: c.Title, Subtitle: c.Subtitle, Axis: c.Axis, Labels: c.Labels, Series: c.Series,
		Log: true, Notes: c.Notes, limit: c.Limit, peers: c.Peers}.Figure()
}

// MIMEBundle shows the chart's figure, or why there is none.
func (c LatencyChart) MIMEBundle() (data, metadata map[string]any) { return Of(c) }

func (c LatencyChart) drawing() (data, metadata map[string]any, err error) {
	return ofChart(c.Figure())
}

const (
	peerGap = 0.7 // rows between peers and the others
	near    = 10  // times the limit: as far as multiples are written
)

var (
	peerColor = color.Gray{Y: 0x9a}
	limitLine = draw.LineStyle{Color: ink, Width: 1.2 * px, Dashes: []vg.Length{4 * px, 3 * px}}
)

// isPeer reports for each row whether it is a peer's.
func (c BarChart) isPeer() []bool {
	peer := make([]bool, len(c.Labels))
	for i, label := range c.Labels {
		peer[i] = slices.Contains(c.peers, label)
	}
	return peer
}

// places are the places of the rows on the y axis, which points upwards, from the top
// down; the last is 0.
func (c BarChart) places() []float64 {
	at, peer := make([]float64, len(c.Labels)), c.isPeer()
	for i := len(at) - 2; i >= 0; i-- {
		at[i] = at[i+1] + (c.rowHeight(i)+c.rowHeight(i+1))/2
		if peer[i] != peer[i+1] {
			at[i] += peerGap
		}
	}
	return at
}

// rowHeight is the height of a row, as a share of that of a row with a bar of each series: a
// missing bar needs no room, so that a long chart is not longer than its bars.
func (c BarChart) rowHeight(i int) float64 {
	missing := max(0, len(c.Series)-max(1, len(presentIn(c.Series, i))))
	return 1 - float64(missing*barHeight)/float64(len(c.Series)*barHeight+rowGap)
}

// span is the lower and the upper end of the rows on the y axis.
func (c BarChart) span() (low, high float64) {
	return -c.rowHeight(len(c.Labels)-1) / 2, c.places()[0] + c.rowHeight(0)/2
}

// limitValue is the time of the limit, NaN if there is none.
func (c BarChart) limitValue() float64 {
	if i := slices.Index(c.Labels, c.limit); c.limit != "" && i >= 0 && drawable(c.Series[0].Values[i], c.Log) {
		return c.Series[0].Values[i]
	}
	return math.NaN()
}

// addPeersAndLimit adds the explanation of peers and limit to the figure: a legend, a
// note, and a column of the numbers.
func (c BarChart) addPeersAndLimit(f *Figure) {
	peers := slices.Contains(c.isPeer(), true)
	if len(c.Series) > 1 || peers {
		f.legend = legendOf(c.Series)
	}
	if peers {
		f.legend = append(f.legend, legendEntry{name: "peers", color: peerColor})
	}
	limit := c.limitValue()
	if math.IsNaN(limit) {
		return
	}
	f.Notes = append(slices.Clone(f.Notes), fmt.Sprintf("dashed: %s, %s; x: multiples of it", c.limit, shortNumber(limit)))
	f.numbers.columns = append(f.numbers.columns, "of "+c.limit)
	for i, v := range c.Series[0].Values {
		f.numbers.rows[i] = append(f.numbers.rows[i], cmp.Or(multiple(v/limit), "–"))
	}
}

// multiple writes a ratio, or "" if it is too large to be of use.
func multiple(ratio float64) string {
	if !(ratio > 0 && ratio < near) {
		return ""
	}
	return fmt.Sprintf("%.2fx", ratio)
}

// color is that of the bar of series j in row i.
func (b *barRows) color(i, j int) color.Color {
	if b.peer[i] && j == 0 {
		return peerColor
	}
	return paletteColor(j)
}

// words are the text beside a bar of series j.
func (b *barRows) words(v float64, j int) string {
	text := shortNumber(v)
	if j == 0 && !math.IsNaN(b.limit) {
		if m := multiple(v / b.limit); m != "" {
			text += "  " + m
		}
	}
	return text
}
