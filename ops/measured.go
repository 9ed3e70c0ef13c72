package ops

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"warpbook/gpu"
)

// Measured are figures of a run on a GPU, committed so that a notebook can show
// them where there is none.
type Measured struct {
	Name   string // of the file: "gemm_times.h200"
	Device string
	Date   string
	Method string
	Roofs  Roofs // 0 where none was measured
	Times  []MeasuredTimes

	title string
}

// Roofs are what the GPU gives at most.
type Roofs struct {
	Float32TFLOPS float64 `json:"float32_tflops"`
	MemoryTBPS    float64 `json:"memory_tbps"`
	Method        string  `json:"method"`
}

// MeasuredTimes are the figures of one size, by variant and peer.
type MeasuredTimes struct {
	Label  string // in place of the size, "" for none
	Size   Size
	US     map[string]float64 // microseconds, or
	TFLOPS map[string]float64
}

//go:embed testdata/*.h200.json
var measuredFiles embed.FS

// MeasuredRun returns the figures of ops/testdata/NAME.json; the error for an
// unknown name lists the nearest ones. A name with a slash is that of a file of
// the caller's, as ops/measured makes it, without its .json.
func MeasuredRun(name string) (*Measured, error) {
	if strings.Contains(name, "/") {
		text, err := os.ReadFile(name + ".json")
		if err != nil {
			return nil, fmt.Errorf("ops: measured run: %w", err)
		}
		return ParseMeasured(name, text)
	}
	text, err := measuredFiles.ReadFile("testdata/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("ops: measured run %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, measuredNames()))
	}
	return ParseMeasured(name, text)
}

// ParseMeasured reads the text of such a file.
func ParseMeasured(name string, text []byte) (*Measured, error) {
	m := &Measured{Name: name}
	file := struct {
		*Measured
		Title string
	}{Measured: m}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("ops: %s.json: %w", name, err)
	}
	if len(m.Times) == 0 {
		return nil, fmt.Errorf("ops: %s.json: %w: no times, expected what ops/measured makes", name, gpu.ErrArgument)
	}
	m.title = file.Title
	return m, nil
}

// MustMeasuredRun is MeasuredRun for notebooks, where an error ends the cell.
func MustMeasuredRun(name string) *Measured {
	m, err := MeasuredRun(name)
	if err != nil {
		panic(err)
	}
	return m
}

// measuredNames are the files with times, in alphabetical order.
func measuredNames() (names []string) {
	entries, err := measuredFiles.ReadDir("testdata")
	if err != nil {
		panic(err) // embedded files are always there
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// tflops is the rate of a variant at a size, NaN where it was not measured.
func (t MeasuredTimes) tflops(name string) float64 {
	if us, ok := t.US[name]; ok {
		flops := 2.0
		for _, n := range t.Size { // of a batch, how many, too
			flops *= float64(n)
		}
		return flops / us / 1e6
	}
	if rate, ok := t.TFLOPS[name]; ok {
		return rate
	}
	return math.NaN()
}

// label is the heading of a size: one number for a square product.
func (t MeasuredTimes) label() string {
	switch {
	case t.Label != "":
		return t.Label
	case t.square():
		return fmt.Sprint(t.Size[0])
	}
	return strings.ReplaceAll(t.Size.String(), " x ", "x")
}

func (t MeasuredTimes) square() bool { return t.Size[0] == t.Size[1] && t.Size[1] == t.Size[2] }

// Square is the run without products whose m, n and k differ.
func (m *Measured) Square() *Measured {
	return m.where(func(t MeasuredTimes) bool { return t.square() })
}

// Oblong is the run without products whose m, n and k are equal.
func (m *Measured) Oblong() *Measured {
	return m.where(func(t MeasuredTimes) bool { return !t.square() })
}

func (m *Measured) where(keep func(MeasuredTimes) bool) *Measured {
	some := *m
	some.Times = slices.DeleteFunc(slices.Clone(m.Times), func(t MeasuredTimes) bool { return !keep(t) })
	return &some
}

// Sizes are the m of each product, as a plot's X.
func (m *Measured) Sizes() (sizes []float64) {
	for _, t := range m.Times {
		sizes = append(sizes, float64(t.Size[0]))
	}
	return sizes
}

// Rates are the TFLOP/s of a variant or peer, NaN where it was not measured.
func (m *Measured) Rates(name string) (rates []float64) {
	for _, t := range m.Times {
		rates = append(rates, t.tflops(name))
	}
	return rates
}

// Best are the TFLOP/s of the fastest variant of ours at each size.
func (m *Measured) Best() []float64 { return m.best(ours) }

// BestPeer are the TFLOP/s of the fastest peer at each size.
func (m *Measured) BestPeer() []float64 { return m.best(func(name string) bool { return !ours(name) }) }

func (m *Measured) best(of func(string) bool) []float64 {
	best := make([]float64, len(m.Times))
	for i, t := range m.Times {
		best[i] = math.NaN()
		for _, name := range m.Names() {
			if rate := t.tflops(name); of(name) && !(best[i] >= rate) && rate == rate {
				best[i] = rate
			}
		}
	}
	return best
}

// ours tells a variant from a peer.
func ours(name string) bool {
	return !strings.HasPrefix(name, "cublas") && !strings.HasPrefix(name, "torch")
}

// rank puts peers behind ours.
func rank(name string) int {
	if ours(name) {
		return 0
	}
	return 1
}

// Names are the variants in the order of the ladder, then others and then peers,
// the slower ones at the last size first.
func (m *Measured) Names() (names []string) {
	if len(m.Times) == 0 {
		return nil
	}
	all := map[string]bool{}
	for _, t := range m.Times {
		for name := range t.US {
			all[name] = true
		}
		for name := range t.TFLOPS {
			all[name] = true
		}
	}
	for _, v := range Gemm.Variants {
		if all[v.Name] {
			names = append(names, v.Name)
			delete(all, v.Name)
		}
	}
	var others []string
	for name := range all {
		others = append(others, name)
	}
	last := m.Times[len(m.Times)-1]
	slices.SortFunc(others, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(last.tflops(a), last.tflops(b)), cmp.Compare(a, b))
	})
	return append(names, others...)
}

// Title stands above the table.
func (m *Measured) Title() string { return m.title + ", TFLOP/s" }

// Notes stand below the table.
func (m *Measured) Notes() []string {
	notes := []string{
		"measured: " + m.Device + ", " + m.Date + "; " + m.Method,
		"read from " + m.file() + ", not measured by this run of the notebook",
	}
	if m.compared() {
		notes = append([]string{"ours / theirs: the fastest of each"}, notes...)
	}
	return notes
}

// file is where the figures were read.
func (m *Measured) file() string {
	if strings.Contains(m.Name, "/") {
		return m.Name + ".json"
	}
	return "ops/testdata/" + m.Name + ".json"
}

// Table is one row a variant or peer, one column a size, and last how the best
// of ours compares with the best of theirs.
func (m *Measured) Table() (columns []string, rows [][]string) {
	columns = []string{"TFLOP/s"}
	for _, t := range m.Times {
		columns = append(columns, t.label())
	}
	for _, name := range m.Names() {
		row := []string{name}
		for _, rate := range m.Rates(name) {
			row = append(row, rateCell(rate))
		}
		rows = append(rows, row)
	}
	if !m.compared() {
		return columns, rows
	}
	last := []string{"ours / theirs"}
	best, peer := m.Best(), m.BestPeer()
	for i := range m.Times {
		cell := "-"
		if ratio := best[i] / peer[i]; ratio == ratio {
			cell = fmt.Sprintf("%.2f", ratio)
		}
		last = append(last, cell)
	}
	return columns, append(rows, last)
}

// compared reports whether there are ours and theirs.
func (m *Measured) compared() bool {
	names := m.Names()
	return slices.ContainsFunc(names, ours) && slices.ContainsFunc(names, func(name string) bool { return !ours(name) })
}

func rateCell(tflops float64) string {
	if tflops != tflops {
		return "-"
	}
	return significant(tflops, 3)
}
