package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/verdict"
	"warpbook/ops/ladder"
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
	file  string   // where the figures were read
	order []string // of the rungs
}

// Roofs are the largest rates that a GPU reaches.
type Roofs struct {
	Float32TFLOPS float64 `json:"float32_tflops"`
	MemoryTBPS    float64 `json:"memory_tbps"`
	Method        string  `json:"method"`
}

// MeasuredTimes are the figures of one size, by rung and peer.
type MeasuredTimes struct {
	Operator string // "" for the one that the run is named after
	Label    string // in place of the size, "" for none
	Size     ladder.Size
	US       map[string]float64 // microseconds, medians over repetitions, or
	TFLOPS   map[string]float64
	RangeUS  map[string][2]float64 `json:"range_us"`  // from the fastest repetition to the slowest
	WithinUS map[string][2]float64 `json:"within_us"` // of a single repetition, the interval that holds its median with 95 % confidence
	Turns    int                   // of each, at least; 0 where it is not known
	Theirs   []string              // the names of peers

	work ladder.Work
}

// MeasuredRun returns the figures of measured/NAME.json of one of the operators'
// folders; the error for an unknown name lists the nearest ones. A file with a title and
// no times waits for its first run: gpu.ErrNotFound. A name with a slash
// is that of a file of the caller's, as ops/cmd/measured makes it, without its .json.
func MeasuredRun(operators []*ladder.Operator, name string) (*Measured, error) {
	if strings.Contains(name, "/") {
		text, err := os.ReadFile(name + ".json")
		if err != nil {
			return nil, fmt.Errorf("ops: measured run: %w", err)
		}
		return ParseMeasured(operators, name, text)
	}
	var names []string
	for _, o := range operators {
		files, err := fs.Glob(o.Files, "measured/*.json")
		if err != nil {
			return nil, fmt.Errorf("ops: embedded figures: %w", err)
		}
		for _, file := range files {
			run := strings.TrimSuffix(path.Base(file), ".json")
			if run == name {
				text, err := fs.ReadFile(o.Files, file)
				if err != nil {
					return nil, fmt.Errorf("ops: embedded figures: %w", err)
				}
				m, err := ParseMeasured(operators, name, text)
				if m != nil {
					m.file = o.Folder + "/" + file
				}
				return m, err
			}
			names = append(names, run)
		}
	}
	return nil, fmt.Errorf("ops: measured run %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// ParseMeasured reads the text of such a file, of figures of any of the operators.
func ParseMeasured(operators []*ladder.Operator, name string, text []byte) (*Measured, error) {
	m := &Measured{Name: name, file: name + ".json"}
	for _, o := range operators {
		for _, v := range o.Variants {
			m.order = append(m.order, v.Name)
		}
	}
	file := struct {
		*Measured
		Title string
	}{Measured: m}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("ops: %s.json: %w", name, err)
	}
	if len(m.Times) == 0 {
		return nil, fmt.Errorf("ops: %s.json: no times: %w: not measured yet, expected a file that ops/cmd/measured has made", name, gpu.ErrNotFound)
	}
	m.title = file.Title
	for i := range m.Times {
		o, err := operatorOf(operators, name, m.Times[i].Operator)
		if err == nil {
			err = o.CheckSize(m.Times[i].Size)
		}
		if err != nil {
			return nil, fmt.Errorf("ops: %s.json: %w", name, err)
		}
		m.Times[i].work = o.Work(m.Times[i].Size)
	}
	return m, nil
}

// operatorOf is the operator of times: the named one, or else the one whose folder's
// name the run begins with, or else the first.
func operatorOf(operators []*ladder.Operator, run, name string) (*ladder.Operator, error) {
	if name == "" {
		for _, o := range operators {
			if o.Name == path.Base(o.Folder) && strings.HasPrefix(path.Base(run), o.Name) {
				return o, nil
			}
		}
		return operators[0], nil
	}
	var names []string
	for _, o := range operators {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return nil, fmt.Errorf("operator %q: %w, %s", name, gpu.ErrNotFound, gpu.Nearest(name, names))
}

// Rate is the rate of a rung at a size, NaN where it was not measured.
func (t MeasuredTimes) Rate(name string) float64 {
	if us, ok := t.US[name]; ok {
		return t.amount() / us / 1e6
	}
	if rate, ok := t.TFLOPS[name]; ok {
		return rate
	}
	return math.NaN()
}

// TimeUS is the time of a rung at a size in microseconds, NaN where it was not measured.
func (m *Measured) TimeUS(name string, size ...int) float64 {
	for _, t := range m.Times {
		if slices.Equal(t.Size, size) {
			if us, ok := t.US[name]; ok {
				return us
			}
		}
	}
	return math.NaN()
}

// Verdict compares the times of two rungs at a size: Faster or Slower where the
// intervals of both, or their ranges over repetitions, lie apart, else Same; "" where one was
// not measured.
func (m *Measured) Verdict(name, than string, size ...int) string {
	for _, t := range m.Times {
		if !slices.Equal(t.Size, size) {
			continue
		}
		intervals := t.RangeUS
		if intervals == nil {
			intervals = t.WithinUS
		}
		a, known := intervals[name]
		b, too := intervals[than]
		if !known || !too {
			return ""
		}
		return verdict.Of(intervalOf(a), intervalOf(b))
	}
	return ""
}

// amount is the work that rates count: operations, or bytes where memory binds.
func (t MeasuredTimes) amount() float64 {
	if t.work.Roof == ladder.Memory {
		return t.work.Bytes
	}
	return t.work.Operations
}

// unit is that of rates.
func (t MeasuredTimes) unit() string {
	if t.work.Roof == ladder.Memory {
		return "TB/s"
	}
	return "T" + cmp.Or(t.work.Unit, "FLOP") + "/s"
}

// Heading is the heading of a size: one number for a square product.
func (t MeasuredTimes) Heading() string {
	switch {
	case t.Label != "":
		return t.Label
	case t.square():
		return fmt.Sprint(t.Size[0])
	}
	return strings.ReplaceAll(t.Size.String(), " x ", "x")
}

func (t MeasuredTimes) square() bool { return len(slices.Compact(slices.Clone(t.Size))) == 1 }

// GPU is the name of the device that was measured, without its driver and clock.
func (m *Measured) GPU() string {
	name, _, _ := strings.Cut(m.Device, ",")
	return name
}

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

// Rates are those of a rung or peer, NaN where it was not measured.
func (m *Measured) Rates(name string) (rates []float64) {
	for _, t := range m.Times {
		rates = append(rates, t.Rate(name))
	}
	return rates
}

// Best are the rates of the fastest rung of ours at each size.
func (m *Measured) Best() []float64 { return m.rates(m.best(m.Ours)) }

// BestPeer are the rates of the fastest peer at each size.
func (m *Measured) BestPeer() []float64 { return m.rates(m.best(m.theirs)) }

// best are the names of the fastest at each size, "" where there is none.
func (m *Measured) best(of func(string) bool) []string {
	best := make([]string, len(m.Times))
	for i, t := range m.Times {
		for _, name := range m.Names() {
			if rate := t.Rate(name); of(name) && rate == rate && !(t.Rate(best[i]) >= rate) {
				best[i] = name
			}
		}
	}
	return best
}

// rates are those of a name at each size, NaN where it was not measured.
func (m *Measured) rates(names []string) []float64 {
	rates := make([]float64, len(m.Times))
	for i, t := range m.Times {
		rates[i] = t.Rate(names[i])
	}
	return rates
}

// Ours tells a rung from a peer.
func (m *Measured) Ours(name string) bool { return !m.theirs(name) }

func (m *Measured) theirs(name string) bool {
	return slices.ContainsFunc(m.Times, func(t MeasuredTimes) bool { return slices.Contains(t.Theirs, name) })
}

// isLibrary reports whether a name is that of a peer which does the operator's work: a
// limit, such as limit_read, does less.
func (m *Measured) isLibrary(name string) bool {
	return m.theirs(name) && !strings.HasPrefix(name, "limit_")
}

// rank orders peers after our rungs.
func (m *Measured) rank(name string) int {
	if m.theirs(name) {
		return 1
	}
	return 0
}

// Names are the rungs in the order of the ladder, then others and then peers,
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
	for _, name := range m.order {
		if all[name] {
			names = append(names, name)
			delete(all, name)
		}
	}
	var others []string
	for name := range all {
		others = append(others, name)
	}
	last := m.Times[len(m.Times)-1]
	slices.SortFunc(others, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.rank(a), m.rank(b)), cmp.Compare(last.Rate(a), last.Rate(b)), cmp.Compare(a, b))
	})
	return append(names, others...)
}

// Title stands above the table.
func (m *Measured) Title() string { return m.title + ", " + m.unit() }

// unit is that of the first size.
func (m *Measured) unit() string {
	if len(m.Times) == 0 {
		return "TFLOP/s"
	}
	return m.Times[0].unit()
}

// Notes stand below the table.
func (m *Measured) Notes() []string {
	notes := []string{
		"measured: " + m.Device + ", " + m.Date + "; " + m.Method,
		"read from " + m.file + ", not measured by this run of the notebook",
	}
	if m.compared() {
		notes = append([]string{"ours / theirs: the fastest of each" + m.judged()}, notes...)
	}
	return notes
}

// judged says how the verdicts are made, "" where there are none.
func (m *Measured) judged() string {
	if !slices.ContainsFunc(m.Times, func(t MeasuredTimes) bool { return t.Turns >= verdict.LeastRepetitions }) {
		return ""
	}
	return fmt.Sprintf("; of at least %d alternating repetitions, and SAME where their ranges overlap", verdict.LeastRepetitions)
}

// Table is one row a rung or peer, one column a size, and last how the best
// of ours compares with the best of theirs.
func (m *Measured) Table() (columns []string, rows [][]string) {
	columns = []string{m.unit()}
	for _, t := range m.Times {
		columns = append(columns, t.Heading())
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
	ours, theirs := m.best(m.Ours), m.best(m.isLibrary)
	for i, t := range m.Times {
		last = append(last, t.versus(ours[i], theirs[i]))
	}
	return columns, append(rows, last)
}

// versus is the ratio of two rates, with a verdict where both have their range over
// turns: SAME where the ranges overlap.
func (t MeasuredTimes) versus(ours, theirs string) string {
	ratio := t.Rate(ours) / t.Rate(theirs)
	if ratio != ratio {
		return "-"
	}
	text := fmt.Sprintf("%.2f", ratio)
	a, known := t.RangeUS[ours]
	b, too := t.RangeUS[theirs]
	if !known || !too || t.Turns < verdict.LeastRepetitions {
		return text
	}
	judged := verdict.Of(intervalOf(a), intervalOf(b))
	if judged != Same {
		text = strings.TrimSuffix(speedRatio(ratio), "x")
	}
	return text + " " + judged
}

func intervalOf(of [2]float64) verdict.Interval { return verdict.Interval{Low: of[0], High: of[1]} }

// compared reports whether there are ours and theirs.
func (m *Measured) compared() bool {
	names := m.Names()
	return slices.ContainsFunc(names, m.Ours) && slices.ContainsFunc(names, m.isLibrary)
}

func rateCell(tflops float64) string {
	if tflops != tflops {
		return "-"
	}
	return significant(tflops, 3)
}
