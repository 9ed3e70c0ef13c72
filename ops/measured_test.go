package ops

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
)

// Every committed run says where it comes from, and no rate is beyond the roof.
func TestMeasuredRuns(t *testing.T) {
	for _, name := range []string{"gemm_ladder.h200", "gemm_times.h200", "gemm_sweep.h200", "gemm_tensor.h200", "gemm_fused.h200"} {
		m, err := MeasuredRun(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Device, "H200") || m.Date < "2026-11-21" || m.Method == "" || m.title == "" || len(m.Times) == 0 {
			t.Errorf("%s: %+v does not say where it comes from", name, m)
		}
		for _, variant := range m.Names() {
			for i, rate := range m.Rates(variant) {
				if roof := 990.0; rate <= 0 || rate > roof || name != "gemm_tensor.h200" && rate > 65.2 {
					t.Errorf("%s: %s at %s: %v TFLOP/s", name, variant, m.Times[i].label(), rate)
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
	if _, err := MeasuredRun("gemm_time.h200"); !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "gemm_times.h200") {
		t.Errorf("an unknown run: %v", err)
	}
}

// A file of the caller's is read by its path, and says so.
func TestMeasuredFile(t *testing.T) {
	m, err := MeasuredRun("testdata/gemm_times.h200")
	if err != nil || !strings.Contains(strings.Join(m.Notes(), "\n"), "read from testdata/gemm_times.h200.json") {
		t.Errorf("%v, %v", m, err)
	}
	for name, want := range map[string]string{"testdata/nothing": "nothing.json: no such file", "testdata/profiles/reduce.h200": "no times"} {
		if _, err := MeasuredRun(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
}

// Where the best of theirs was measured in the same run, ours is held against it.
func TestMeasuredRatio(t *testing.T) {
	m := &Measured{Times: []MeasuredTimes{
		{Size: Size{100, 100, 100}, US: map[string]float64{"gemm_wide": 2, "gemm_stream_k": 1, "cublas": 4, "cublaslt_fastest": 2}},
		{Size: Size{100, 100, 200}, TFLOPS: map[string]float64{"cublas": 3}},
	}}
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

// gemm_notes.md has the same figures, to the digits that it shows.
func TestNotesHaveTheMeasuredFigures(t *testing.T) {
	text, err := os.ReadFile("gemm_notes.md")
	if err != nil {
		t.Fatal(err)
	}
	for mark, least := range map[string]int{"gemm_ladder.h200": 12, "gemm_times.h200 square": 12, "gemm_times.h200 oblong": 12, "gemm_tensor.h200": 12, "gemm_fused.h200": 6} {
		name, _, _ := strings.Cut(mark, " ")
		m, err := MeasuredRun(name)
		if err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(string(text), "<!-- "+mark+" -->\n")
		if !found {
			t.Fatalf("gemm_notes.md has no table %s", mark)
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
					if times.label() == labels[i+1] {
						rate = times.tflops(strings.ToLower(strings.ReplaceAll(cells[0], " ", "_")))
					}
				}
				if compared++; !(math.Abs(rate-want) <= 0.006*want) {
					t.Errorf("%s: %s at %s: %v, gemm_notes.md has %v", name, cells[0], labels[i+1], rate, want)
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
	text, err := os.ReadFile("../notebooks/results/h200/01-reduce.json")
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
	m, err := MeasuredRun("gemm_times.h200")
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Roofs.MemoryTBPS-fastest/1e3) > 0.01 {
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

// measuredOf are the figures of each variant and peer in the committed runs: TFLOP/s,
// as a share of the fastest peer, and microseconds.
func measuredOf(t *testing.T) map[string][]float64 {
	all := map[string][]float64{}
	for _, run := range []string{"gemm_ladder.h200", "gemm_times.h200", "gemm_tensor.h200", "gemm_fused.h200"} {
		m, err := MeasuredRun(run)
		if err != nil {
			t.Fatal(err)
		}
		theirs := m.BestPeer()
		for i, times := range m.Times {
			kind := strings.ToLower(strings.ReplaceAll(times.Label[:max(0, strings.LastIndex(times.Label, " "))], " ", "_"))
			for _, name := range m.Names() {
				rate, us := times.tflops(name), times.US[name]
				if ours(name) && !strings.HasPrefix(name, "gemm_") {
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
func TestNotesGiveWhatWasMeasured(t *testing.T) {
	place := regexp.MustCompile(`\(?at \d+( x \d+)*\)?|\b\d+(\.\d+)?x`) // sizes, and gains over another rung
	measured, compared := measuredOf(t), 0
	for _, row := range expectations(gemmNotes) {
		if row.Got == "" || row.Got[0] < '0' || row.Got[0] > '9' || len(measured[row.Name]) == 0 {
			continue
		}
		for _, number := range shown.FindAllString(place.ReplaceAllString(row.Got, ""), -1) {
			compared++
			if why := unlike(number, measured[row.Name]); why != "" {
				t.Errorf("gemm_notes.md: %s: %q: %s", row.Name, row.Got, why)
			}
		}
	}
	if compared < 60 {
		t.Errorf("%d figures compared, expected at least 60", compared)
	}
}

// README's table of products has figures of the committed runs.
func TestReadmeHasTheMeasuredFigures(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	measured := measuredOf(t)
	var theirs []float64
	for name, figures := range measured {
		if !ours(name) {
			theirs = append(theirs, figures...)
		}
	}
	rows := regexp.MustCompile("(?m)^\\|[^|]*\\| ([\\d.]+) `(\\w+)` \\| ([\\d.]+)[^|]*\\| ([\\d.]+) \\|$").FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		for _, why := range []string{unlike(row[1], measured[row[2]]), unlike(row[3], theirs)} {
			if why != "" {
				t.Errorf("README.md: %s: %s", row[0], why)
			}
		}
		ours, _ := strconv.ParseFloat(row[1], 64)
		peer, _ := strconv.ParseFloat(row[3], 64)
		if ratio, _ := strconv.ParseFloat(row[4], 64); math.Abs(ours/peer-ratio) > 0.01*ratio {
			t.Errorf("README.md: %s: the ratio is %.3f", row[0], ours/peer)
		}
	}
	if len(rows) < 17 {
		t.Errorf("%d rows of products, expected at least 17", len(rows))
	}
}
