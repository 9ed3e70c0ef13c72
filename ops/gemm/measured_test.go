package gemm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/ops/ladder"
	"warpbook/ops/results"
)

// Every committed run names its source, and no rate exceeds the roof.
func TestMeasuredRuns(t *testing.T) {
	for _, name := range []string{"gemm_ladder.h200", "gemm_times.h200", "gemm_sweep.h200", "gemm_tensor.h200", "gemm_fused.h200", "gemm_headline.h200"} {
		m, err := results.MeasuredRun(family, name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Device, "H200") || m.Date < "2026-11-21" || m.Method == "" || m.Title() == ", TFLOP/s" || len(m.Times) == 0 {
			t.Errorf("%s: %+v does not say where it comes from", name, m)
		}
		for _, variant := range m.Names() {
			for i, rate := range m.Rates(variant) {
				if roof := 990.0; rate <= 0 || rate > roof || name != "gemm_tensor.h200" && name != "gemm_headline.h200" && rate > 65.2 {
					t.Errorf("%s: %s at %s: %v TFLOP/s", name, variant, m.Times[i].Heading(), rate)
				}
			}
		}
		columns, rows := m.Table()
		for _, row := range rows {
			if len(row) != len(columns) {
				t.Errorf("%s: a row of %d cells for %d columns", name, len(row), len(columns))
			}
		}
	}
	if _, err := results.MeasuredRun(family, "gemm_time.h200"); !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "gemm_times.h200") {
		t.Errorf("an unknown run: %v", err)
	}
}

// A file of the caller is read by its path, which the table names.
func TestMeasuredFile(t *testing.T) {
	m, err := results.MeasuredRun(family, "measured/gemm_times.h200")
	if err != nil || !strings.Contains(strings.Join(m.Notes(), "\n"), "read from measured/gemm_times.h200.json") {
		t.Errorf("%v, %v", m, err)
	}
	for name, want := range map[string]string{"measured/nothing": "nothing.json: no such file", "profiles/odd.h200": "no times"} {
		if _, err := results.MeasuredRun(family, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
}

// Where the best of theirs was measured in the same run, ours is held against it.
func TestMeasuredRatio(t *testing.T) {
	m, err := results.ParseMeasured(family, "a run", []byte(`{"Times": [
		{"Size": [100, 100, 100], "US": {"gemm_wide": 2, "gemm_stream_k": 1, "cublas": 4, "cublaslt_fastest": 2}, "Theirs": ["cublas", "cublaslt_fastest"]},
		{"Size": [100, 100, 200], "TFLOPS": {"cublas": 3}, "Theirs": ["cublas"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	columns, rows := m.Table()
	got := strings.Join(columns, "|")
	for _, row := range rows {
		got += "\n" + strings.Join(row, "|")
	}
	want := "TFLOP/s|100|100x100x200\ngemm_wide|1.00|-\ngemm_stream_k|2.00|-\ncublaslt_fastest|1.00|-\ncublas|0.500|3.00\nours / theirs|2.00|-"
	if got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if square := m.Square(); len(square.Times) != 1 || len(m.Oblong().Times) != 1 || len(m.Times) != 2 {
		t.Errorf("%d square, %d oblong of %d", len(square.Times), len(m.Oblong().Times), len(m.Times))
	}
}

// notes.md has the same figures, to the digits that it shows.
func TestNotesHaveTheMeasuredFigures(t *testing.T) {
	text, err := os.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	for mark, least := range map[string]int{"gemm_ladder.h200": 12, "gemm_times.h200 square": 12, "gemm_times.h200 oblong": 12, "gemm_tensor.h200": 12, "gemm_fused.h200": 6, "gemm_headline.h200": 12} {
		name, _, _ := strings.Cut(mark, " ")
		m, err := results.MeasuredRun(family, name)
		if err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(string(text), "<!-- "+mark+" -->\n")
		if !found {
			t.Fatalf("notes.md has no table %s", mark)
		}
		table, _, _ = strings.Cut(table, "\n\n")
		lines := strings.Split(table, "\n")
		cellsOf := func(line string) []string {
			var cells []string
			for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			return cells
		}
		labels, compared := cellsOf(lines[0]), 0
		for _, line := range lines[2:] {
			cells := cellsOf(line)
			for i, cell := range cells[1:] {
				want, err := strconv.ParseFloat(cell, 64)
				if err != nil || strings.Contains(cells[0], "/") {
					continue // not measured, or a ratio
				}
				rate := math.NaN()
				for _, times := range m.Times {
					if times.Heading() == labels[i+1] {
						rate = times.Rate(strings.ToLower(strings.ReplaceAll(cells[0], " ", "_")))
					}
				}
				if compared++; !(math.Abs(rate-want) <= 0.006*want) {
					t.Errorf("%s: %s at %s: %v, notes.md has %v", name, cells[0], labels[i+1], rate, want)
				}
			}
		}
		if compared < least {
			t.Errorf("%s: %d figures compared, expected at least %d", mark, compared, least)
		}
	}
}

// The roof of memory is that of the run of notebook 01 that is committed.
func TestRoofOfMemory(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/results/h200/01-reduce.json")
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var fastest float64
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, y := range x {
				walk(y)
			}
		case map[string]any:
			if gbps, ok := x["gbps"].(float64); ok && x["name"] == "limit_read" {
				fastest = max(fastest, gbps)
			}
			for _, y := range x {
				walk(y)
			}
		}
	}
	walk(all)
	m, err := results.MeasuredRun(family, "gemm_times.h200")
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(m.Roofs.MemoryTBPS-fastest/1e3) <= 0.01) {
		t.Errorf("%v TB/s, limit_read of notebook 01 has %v", m.Roofs.MemoryTBPS, fastest/1e3)
	}
}

// shown is a number of a text, with spaces between groups of digits, to the last
// digit that it shows.
var shown = regexp.MustCompile(`\d{1,3}( \d{3})+|\d+(\.\d+)?`)

// unlike says why none of some figures is what a number shows, "" if one is.
func unlike(number string, figures []float64) string {
	want, err := strconv.ParseFloat(strings.ReplaceAll(number, " ", ""), 64)
	if err != nil {
		return err.Error()
	}
	_, decimals, _ := strings.Cut(number, ".")
	unit := math.Pow(10, -float64(len(decimals)))
	if slices.ContainsFunc(figures, func(f float64) bool { return math.Abs(f-want) <= 0.501*unit }) {
		return ""
	}
	return fmt.Sprintf("%s is none of %.4g", number, figures)
}

// measuredOf are the figures of each rung and peer in the committed runs: TFLOP/s,
// as a share of the fastest peer, and microseconds.
func measuredOf(t *testing.T) map[string][]float64 {
	all := map[string][]float64{}
	for _, run := range []string{"gemm_ladder.h200", "gemm_times.h200", "gemm_tensor.h200", "gemm_fused.h200", "gemm_headline.h200"} {
		m, err := results.MeasuredRun(family, run)
		if err != nil {
			t.Fatal(err)
		}
		theirs := m.BestPeer()
		for i, times := range m.Times {
			kind := strings.ToLower(strings.ReplaceAll(times.Label[:max(0, strings.LastIndex(times.Label, " "))], " ", "_"))
			for _, name := range m.Names() {
				rate, us := times.Rate(name), times.US[name]
				if m.Ours(name) && !strings.HasPrefix(name, "gemm_") {
					name = "gemm_" + kind + "_" + name
				}
				if rate == rate {
					all[name] = append(all[name], rate, rate/theirs[i], us)
				}
			}
		}
	}
	return all
}

// What the notes say that a rung gave, the committed runs have: a new run leaves no old
// figure in the text.
func TestNotesMatchMeasurements(t *testing.T) {
	place := regexp.MustCompile(`\(?at \d+( x \d+)*\)?|\b\d+(\.\d+)?x`) // sizes, and gains over another rung
	measured, compared := measuredOf(t), 0
	for _, row := range expectations(t) {
		if row.Got == "" || row.Got[0] < '0' || row.Got[0] > '9' || len(measured[row.Name]) == 0 {
			continue
		}
		for _, number := range shown.FindAllString(place.ReplaceAllString(row.Got, ""), -1) {
			compared++
			if why := unlike(number, measured[row.Name]); why != "" {
				t.Errorf("notes.md: %s: %q: %s", row.Name, row.Got, why)
			}
		}
	}
	if compared < 60 {
		t.Errorf("%d figures compared, expected at least 60", compared)
	}
}

// The rows of products in the notes have figures of the committed runs, and a verdict
// only where five repetitions gave one.
func TestTablesHaveTheMeasuredFigures(t *testing.T) {
	text, err := os.ReadFile("notes.md")
	if err != nil {
		t.Fatal(err)
	}
	headline, err := results.MeasuredRun(family, "gemm_headline.h200")
	if err != nil {
		t.Fatal(err)
	}
	_, table := headline.Table()
	verdicts := table[len(table)-1]
	measured := measuredOf(t)
	var theirs []float64
	for name, figures := range measured {
		if !strings.HasPrefix(name, "gemm_") && !strings.HasPrefix(name, "cpu_") {
			theirs = append(theirs, figures...)
		}
	}
	rows := regexp.MustCompile("(?m)^\\|[^|]*\\| ([\\d.]+) `(\\w+)` \\| ([\\d.]+)[^|]*\\| ([^|]+) \\|$").FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		for _, why := range []string{unlike(row[1], measured[row[2]]), unlike(row[3], theirs)} {
			if why != "" {
				t.Errorf("%s: %s", row[0], why)
			}
		}
		ours, _ := strconv.ParseFloat(row[1], 64)
		peer, _ := strconv.ParseFloat(row[3], 64)
		if strings.Contains(row[4], results.Same) || strings.Contains(row[4], "ER") {
			if !slices.Contains(verdicts, row[4]) {
				t.Errorf("%s: the verdicts of five repetitions are %q", row[0], verdicts)
			}
			continue
		}
		number, without := strings.CutSuffix(row[4], ", without ranges")
		if ratio, _ := strconv.ParseFloat(number, 64); math.Abs(ours/peer-ratio) > 0.01*ratio {
			t.Errorf("%s: the ratio is %.3f", row[0], ours/peer)
		}
		if close := math.Abs(ours/peer-1) < 0.05; close != without {
			t.Errorf("%s: a ratio within 5 %% of a run without ranges: write \"%s, without ranges\"", row[0], number)
		}
	}
	if len(rows) < 17 {
		t.Errorf("%d rows of products, expected at least 17", len(rows))
	}
}

// expectations are those of all operators of the notes.
func expectations(t *testing.T) (all []ladder.Expectation) {
	for _, o := range family {
		e, err := o.Expected()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Rows...)
	}
	return all
}

// A verdict takes five repetitions, and is SAME where the ranges over repetitions overlap.
func TestMeasuredVerdict(t *testing.T) {
	for text, want := range map[string]string{
		`"gemm_wide": [9, 11], "cublas": [12, 13]}, "Turns": 5`:  "1.25 FASTER",
		`"gemm_wide": [9, 12], "cublas": [12, 13]}, "Turns": 5`:  "1.25 SAME",
		`"gemm_wide": [14, 15], "cublas": [12, 13]}, "Turns": 5`: "1.25 SLOWER",
		`"gemm_wide": [9, 11], "cublas": [12, 13]}, "Turns": 4`:  "1.25",
		`"gemm_wide": [9, 11]}, "Turns": 5`:                      "1.25",
	} {
		m, err := results.ParseMeasured(family, "a run", []byte(`{"Times": [{"Size": [8, 8, 8], "US": {"gemm_wide": 10, "cublas": 12.5}, "Theirs": ["cublas"], "range_us": {`+text+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_, rows := m.Table()
		if got := rows[len(rows)-1][1]; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A run of another operator has its own unit, order of rows and peers, whatever their
// names; a size that the operator does not take is an error.
func TestMeasuredOfAnyOperator(t *testing.T) {
	o := &ladder.Operator{Name: "copy", Folder: "ops/copy", Dims: []string{"n"}, MaxDim: 100, Variants: []ladder.Variant{{Name: "b"}, {Name: "a"}},
		Work: func(s ladder.Size) ladder.Work { return ladder.Work{Bytes: 1e6 * float64(s[0])} }}
	m, err := results.ParseMeasured([]*ladder.Operator{o}, "copy", []byte(`{"Times": [{"Size": [8], "US": {"a": 2, "b": 4, "cub_copy": 8}, "Theirs": ["cub_copy"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	columns, rows := m.Table()
	if got := fmt.Sprint(columns, rows, len(m.Square().Times), m.Title()); got != "[TB/s 8] [[b 2.00] [a 4.00] [cub_copy 1.00] [ours / theirs 4.00]] 1, TB/s" {
		t.Error(got)
	}
	for _, text := range []string{`{"Times": [{"Size": [8, 8]}]}`, `{"Times": [{"Size": []}]}`, `{"Times": [{"Size": [8], "Operator": "copies"}]}`} {
		if _, err := results.ParseMeasured([]*ladder.Operator{o}, "copy", []byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
