// Command measured turns figures that the bench printed on a GPU into a file of
// an operator's folder, which notebooks show where there is none, and into its tables
// in the notes of that folder, which stand between the line <!-- NAME --> (or <!-- NAME
// square -->, <!-- NAME oblong -->) and an empty one:
//
//	go run ./ops/cmd/bench gemm --size 256,256,256 --clock graph > figures.jsonl
//	go run ./ops/cmd/bench gemm --size 512,512,512 --clock graph >> figures.jsonl
//	go run ./ops/cmd/measured gemm_ladder.h200 < figures.jsonl
//
// The file keeps its title and, unless --memory is given, its roof of memory.
// All else is that of the figures: those that are verified and have a time, of
// several turns the median. A size that the bench was ended in, before its peers
// had a turn, is left out and named: its fastest rung may be one that was not reached.
// Emulated figures, and figures of several devices, drivers or commits, are refused.
//
// Figures of a GPU of your own go to a folder of your own, which notebook 02 reads with
// --set figures=FOLDER; nothing that is committed changes:
//
//	go run ./ops/cmd/bench gemm --size 512,512,512 --size 4096,4096,4096 --clock graph | go run ./ops/cmd/measured --to mine
//
// With --cell the figures are those of a notebook's results, the .json that `warpbook
// run` writes:
//
//	go run ./ops/cmd/measured --cell latency-table --to mine < results/01-reduce.json
//
// With --counters the lines are those of the bench's --counters, of any operators. They
// become measured/counters.GPU.jsonl of each folder, and the table behind the line
// <!-- counters.GPU --> of its notes:
//
//	go run ./ops/cmd/bench scan --size 268435456 --counters units | go run ./ops/cmd/measured --counters h200
//
// With --headlines the table of ops/figures.md is made anew, and README's rows with it:
// from the runs whose lines are kept in ops/headlines/GPU, and one run before that, of which
// the measured files have the ranges. A run is a day and a machine. --keep adds the lines of
// a run under a name that begins with its date:
//
//	cat OUT/headlines-*.jsonl | go run ./ops/cmd/measured --headlines h200 --keep 2026-11-28-e52e24c1
//
// On a machine with several GPUs each has a run of its own. Lines of other benches that time a
// headline's rung beside its libraries on another GPU belong to the run of that GPU.
//
// Figures of sources with changes are refused for what is committed.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/ops"
	"warpbook/ops/peers"
	"warpbook/ops/results"
)

func main() {
	memory := flag.Float64("memory", 0, "the roof of memory in TB/s, as limit_read of notebook 01 has it")
	to := flag.String("to", "", "a `folder` of your own: figures of the bench become its files, and nothing else changes")
	cell := flag.String("cell", "", "the `id` of a cell with a latency table: standard input is the .json of a notebook's results")
	gpu := flag.String("counters", "", "the `GPU`, such as h200: standard input is lines of the bench's --counters")
	table := flag.String("headlines", "", "the `GPU`, such as h200: makes the table of ops/figures.md from all runs of it")
	keep := flag.String("keep", "", "with --headlines, the `name` under which the lines of standard input are kept: date and machine")
	flag.Parse()
	if own := *to != "" || *gpu != "" || *table != ""; *keep != "" && *table == "" || flag.NArg() != 1 && !own || flag.NArg() > 0 && own {
		fmt.Fprintln(os.Stderr, "usage: go run ./ops/cmd/measured [--memory TBPS] [--cell ID] NAME < figures.jsonl\n"+
			"       go run ./ops/cmd/measured [--memory TBPS] [--cell ID] --to FOLDER < figures.jsonl\n"+
			"       go run ./ops/cmd/measured --counters GPU < counters.jsonl\n"+
			"       go run ./ops/cmd/measured --headlines GPU [--keep NAME < figures.jsonl]")
		os.Exit(2)
	}
	var figures io.Reader = os.Stdin
	var err error
	if *cell != "" {
		figures, err = recordLines(figures, *cell)
	}
	switch {
	case err != nil:
	case *table != "":
		if *keep != "" {
			err = keepRun(figures, "ops", *table, *keep)
		}
		if err == nil {
			err = runHeadlines("ops", *table)
		}
	case *gpu != "":
		err = runCounters(figures, "ops", *gpu)
	case *to != "":
		err = runOwn(figures, *to, *memory, os.Stderr)
	default:
		err = run(figures, "ops", flag.Arg(0), *memory)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measured:", err)
		os.Exit(1)
	}
}

// run writes the file and the table below a folder.
func run(figures io.Reader, folder, name string, memory float64) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*", "measured", name+".json"))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("run %q: %d files %s/*/measured/%s.json, expected one, with the run's title", name, len(paths), folder, name)
	}
	path := paths[0]
	notes := filepath.Join(filepath.Dir(path), "..", "notes.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(notes)
	if err != nil {
		return err
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := f.take(figures, filepath.Base(filepath.Dir(filepath.Dir(path)))); err != nil {
		return err
	}
	if err := committed(f.Commit); err != nil {
		return err
	}
	for _, size := range f.cut {
		fmt.Fprintln(os.Stderr, "measured: left out, no peer had a turn:", size)
	}
	if memory > 0 {
		f.Roofs.MemoryTBPS = memory
	}
	if text, err = f.text(); err != nil {
		return err
	}
	m, err := results.ParseMeasured(ops.Operators(), name, text)
	if err != nil {
		return err
	}
	with, err := withTables(string(page), m)
	if err != nil {
		return fmt.Errorf("%s: %w", notes, err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(notes, []byte(with), 0o644)
}

// file is the format that ops.MeasuredRun reads.
type file struct {
	Title  string    `json:"title"`
	Device string    `json:"device"`
	Date   string    `json:"date"`
	Commit string    `json:"commit,omitempty"`
	Method string    `json:"method"`
	Roofs  ops.Roofs `json:"roofs,omitzero"`
	Times  []*times  `json:"times"`

	cut []string // sizes that were left out
}

// times are those of one size.
type times struct {
	Operator string                `json:"operator,omitempty"` // where it is not the folder's
	Label    string                `json:"label,omitempty"`
	Size     []int                 `json:"size"`
	US       map[string]float64    `json:"us"`
	RangeUS  map[string][2]float64 `json:"range_us,omitempty"`
	WithinUS map[string][2]float64 `json:"within_us,omitempty"`
	Turns    int                   `json:"turns,omitempty"`
	Theirs   []string              `json:"theirs,omitempty"`

	operator string
	turns    map[string][]float64  // ns
	within   map[string][2]float64 // the interval of the last turn
}

// figure is a line of the bench's, ours or a peer's.
type figure struct {
	peers.Figure
	GPU struct {
		ClockMHz int `json:"clock_mhz"`
	} `json:"gpu"`
	Environment struct{ Device, Commit, Data, Method, Date string } `json:"environment"`
}

// take replaces the contents of the file by the figures of operators of a folder.
func (f *file) take(figures io.Reader, folder string) error {
	f.Times, f.Roofs.Float32TFLOPS = nil, 0
	var environment figure // the last of ours
	low, high := math.MaxInt, 0
	var from source
	lines := bufio.NewScanner(figures)
	lines.Buffer(nil, 1<<20)
	for line := 1; lines.Scan(); line++ {
		var x figure
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return fmt.Errorf("line %.60q: %w", lines.Text(), err)
		}
		if err := from.check(line, x); err != nil {
			return err
		}
		if x.Verdict != ops.Pass || x.MedianNS == 0 {
			continue
		}
		if x.Environment.Device != "" {
			environment = x
		}
		if mhz := x.GPU.ClockMHz; mhz > 0 {
			low, high = min(low, mhz), max(high, mhz)
		}
		if x.Name == "limit_product" {
			f.addRoof(x)
			continue
		}
		if err := f.add(x, folder); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if environment.Name == "" {
		return fmt.Errorf("no figure of a variant that was verified and timed, expected those of ops/cmd/bench")
	}
	f.Device = deviceLine(environment.Environment.Device, low, high)
	f.Date, _, _ = strings.Cut(environment.Environment.Date, "T")
	f.Commit = environment.Environment.Commit
	f.Method = environment.Environment.Method + "; data " + environment.Environment.Data
	f.leaveOut()
	if least, most := f.settle(); most > 1 {
		turns := fmt.Sprint(most)
		if least < most {
			turns = fmt.Sprintf("%d to %d", least, most)
		}
		f.Method += "; the median of " + turns + " repetitions, ours and theirs alternately"
	}
	slices.SortFunc(f.Times, func(a, b *times) int {
		return cmp.Or(cmp.Compare(oblong(a.Size), oblong(b.Size)), cmp.Compare(a.operator, b.operator), slices.Compare(a.Size, b.Size))
	})
	return lines.Err()
}

// addRoof raises the roof of float32 to the rate of a limit's figure.
func (f *file) addRoof(x figure) {
	if rate := math.Round(x.GFlops/100) / 10; rate > f.Roofs.Float32TFLOPS {
		f.Roofs.Float32TFLOPS = rate
		f.Roofs.Method = "float32: " + x.Note + ", in the same run; memory: limit_read of notebooks/results/h200/01-reduce.json"
	}
}

// deviceLine is the device's name, its driver and the range of its clocks in MHz.
func deviceLine(device string, low, high int) string {
	device, _, _ = strings.Cut(strings.Replace(device, "(", "", 1), ", CUDA")
	clock := fmt.Sprintf("%d to %d MHz", low, high)
	if low >= high {
		clock = fmt.Sprintf("%d MHz", high)
	}
	if name, rest, found := strings.Cut(device, " sm_"); found { // the driver stays
		_, driver, _ := strings.Cut(rest, ",")
		device = name + "," + driver
	}
	return strings.TrimSuffix(device, ",") + ", " + clock
}

// oblong is how many of the sizes differ from the one before.
func oblong(size []int) int { return len(slices.Compact(slices.Clone(size))) - 1 }

// add puts a figure to those of its operator and size. Rungs and peers of other
// operators than the one that is named like the folder lose its name, which is the
// label's.
func (f *file) add(x figure, folder string) error {
	o, err := ops.Find(x.Operator)
	if err != nil {
		return err
	}
	if filepath.Base(o.Folder) != folder {
		return fmt.Errorf("%s of %s: expected operators of ops/%s", x.Name, x.Operator, folder)
	}
	_, err = o.Variant(x.Name)
	theirs, label, name, operator := err != nil, "", x.Name, ""
	if x.Operator != folder {
		operator = x.Operator
		kind, relative := strings.CutPrefix(x.Operator, folder+"_")
		label = strings.NewReplacer("tf", "TF", "_", " ").Replace(kind) + " " + sizeText(x.Size)
		if relative {
			if name = strings.TrimPrefix(name, x.Operator+"_"); theirs {
				name = strings.TrimSuffix(name, "_"+kind)
			}
		}
	}
	if x.Settings != "" { // times of different settings are never those of one column
		label = cmp.Or(label, sizeText(x.Size)) + ", " + x.Settings
	}
	i := slices.IndexFunc(f.Times, func(t *times) bool { return t.Label == label && slices.Equal(t.Size, x.Size) })
	if i < 0 {
		i, f.Times = len(f.Times), append(f.Times, &times{Operator: operator, Label: label, Size: x.Size, US: map[string]float64{}, operator: x.Operator, turns: map[string][]float64{}, within: map[string][2]float64{}})
	}
	t := f.Times[i]
	t.turns[name] = append(t.turns[name], x.MedianNS)
	if x.HighNS > 0 {
		t.within[name] = [2]float64{micros(x.LowNS), micros(x.HighNS)}
	}
	if theirs && !slices.Contains(t.Theirs, name) {
		t.Theirs = append(t.Theirs, name)
		slices.Sort(t.Theirs)
	}
	return nil
}

// sizeText is a size as a label has it.
func sizeText(size []int) string {
	if oblong(size) == 0 {
		return fmt.Sprint(size[0])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(size), " ", "x"), "[]")
}

// leaveOut drops the sizes without a peer, of operators that have peers elsewhere.
func (f *file) leaveOut() {
	compared := map[string]bool{}
	for _, t := range f.Times {
		compared[t.operator] = compared[t.operator] || t.compared()
	}
	f.Times = slices.DeleteFunc(f.Times, func(t *times) bool {
		cut := compared[t.operator] && !t.compared()
		if cut {
			f.cut = append(f.cut, fmt.Sprint(t.operator, " ", t.Size))
		}
		return cut
	})
}

// compared reports whether a peer was timed.
func (t *times) compared() bool {
	return len(t.Theirs) > 0
}

// settle makes a time of each figure's turns, with their range, and returns how many
// they have.
func (f *file) settle() (least, most int) {
	least = math.MaxInt
	for _, t := range f.Times {
		t.Turns = math.MaxInt
		for name, turns := range t.turns {
			slices.Sort(turns)
			n := len(turns)
			least, most, t.Turns = min(least, n), max(most, n), min(t.Turns, n)
			t.US[name] = micros((turns[(n-1)/2] + turns[n/2]) / 2)
			if n > 1 {
				if t.RangeUS == nil {
					t.RangeUS = map[string][2]float64{}
				}
				t.RangeUS[name] = [2]float64{micros(turns[0]), micros(turns[n-1])}
			}
		}
	}
	if most == 1 { // the interval within the turn is all there is
		for _, t := range f.Times {
			t.WithinUS = t.within
		}
	}
	return least, most
}

// micros is a time in ns in us, with two decimals.
func micros(ns float64) float64 { return math.Round(ns/10) / 100 }

// text is the file, a line for each size.
func (f file) text() ([]byte, error) {
	var lines []string
	for _, t := range f.Times {
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(line))
	}
	f.Times = nil
	head, err := json.MarshalIndent(f, "", " ")
	return []byte(strings.Replace(string(head), "null", "[\n  "+strings.Join(lines, ",\n  ")+"\n ]", 1) + "\n"), err
}

// withTables is the page with the run's tables in their places: of all sizes, or
// of square and of oblong products.
func withTables(page string, m *ops.Measured) (string, error) {
	some := false
	for name, part := range map[string]*ops.Measured{"": m, " square": m.Square(), " oblong": m.Oblong()} {
		with, found, err := withTable(page, m.Name+name, table(part))
		if err != nil {
			return "", err
		}
		page, some = with, some || found
	}
	if !some {
		return "", fmt.Errorf("no line <!-- %s --> before a table", m.Name)
	}
	return page, nil
}

// withTable is the page with a table between the line <!-- NAME --> and an empty one.
func withTable(page, name, table string) (with string, found bool, err error) {
	mark := "<!-- " + name + " -->\n"
	before, after, found := strings.Cut(page, mark)
	if !found {
		return page, false, nil
	}
	_, after, ended := strings.Cut(after, "\n\n")
	if !ended {
		return "", true, fmt.Errorf("no empty line after the table of %s", mark)
	}
	return before + mark + table + "\n" + after, true, nil
}

// table is a run's in Markdown.
func table(m *ops.Measured) string {
	columns, rows := m.Table()
	columns[0] = "rung"
	return markdown(columns, rows)
}

func markdown(columns []string, rows [][]string) string {
	var text strings.Builder
	for _, row := range append([][]string{columns, slices.Repeat([]string{"---"}, len(columns))}, rows...) {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
	}
	return text.String()
}
