package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warpbook/ops"
)

// counters is a line of the bench's --counters: a launch.
type counters struct {
	Kind, Operator, Name, Settings, Verdict, Entry, Device string
	Size                                                   []int
	Metrics                                                map[string]string
}

// units are the columns of the table: shares of a unit's peak, in percent.
var units = []struct{ title, metric string }{
	{"DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
	{"L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
	{"L1 and shared", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"},
	{"issue", "sm__inst_issued.avg.pct_of_peak_sustained_elapsed"},
	{"FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
	{"tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
	{"warps", "sm__warps_active.avg.pct_of_peak_sustained_active"},
}

const duration = "gpu__time_duration.sum"

// runCounters writes the files and the tables of the operators that the lines are of.
func runCounters(lines io.Reader, folder, gpu string) error {
	texts := map[string][]string{} // by the operator's folder
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var c counters
		if err := json.Unmarshal(scanner.Bytes(), &c); err != nil {
			return fmt.Errorf("line %.60q: %w", scanner.Text(), err)
		}
		if c.Kind != "counters" {
			return fmt.Errorf("line %.60q: kind %q, expected a line of the bench's --counters", scanner.Text(), c.Kind)
		}
		if c.Verdict != ops.Pass {
			return fmt.Errorf("%s: verdict %q, expected %q: counters of a wrong result say nothing", c.Name, c.Verdict, ops.Pass)
		}
		if !strings.Contains(strings.ToLower(c.Device), gpu) {
			return fmt.Errorf("%s: counted on %s, expected an %s", c.Name, c.Device, gpu)
		}
		o, err := ops.Find(c.Operator)
		if err != nil {
			return err
		}
		texts[filepath.Base(o.Folder)] = append(texts[filepath.Base(o.Folder)], scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	if len(texts) == 0 {
		return fmt.Errorf("no line, expected those of the bench's --counters")
	}
	for _, operator := range slices.Sorted(maps.Keys(texts)) {
		notes := filepath.Join(folder, operator, "notes.md")
		page, err := os.ReadFile(notes)
		if err != nil {
			return err
		}
		text := []byte(strings.Join(texts[operator], "\n") + "\n")
		table, err := countersTable(text)
		if err != nil {
			return err
		}
		with, found, err := withTable(string(page), "counters."+gpu, table)
		if err == nil && !found {
			err = fmt.Errorf("no line <!-- counters.%s --> before a table", gpu)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", notes, err)
		}
		file := filepath.Join(folder, operator, "measured", "counters."+gpu+".jsonl")
		if err := errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(notes, []byte(with), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// countersTable has a row for each entry of a rung: the launches of one entry together,
// with the mean of their shares by time.
func countersTable(text []byte) (string, error) {
	type row struct {
		of, entry string
		launches  int
		ns        float64
		shares    []float64 // times ns
	}
	var rows []*row
	for line := range bytes.Lines(text) {
		var c counters
		if err := json.Unmarshal(line, &c); err != nil {
			return "", err
		}
		of := strings.TrimSuffix(fmt.Sprint(c.Name, " at ", strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Size), " ", " x "), "[]"), ", ", c.Settings), ", ")
		i := slices.IndexFunc(rows, func(r *row) bool { return r.of == of && r.entry == c.Entry })
		if i < 0 {
			i, rows = len(rows), append(rows, &row{of: of, entry: c.Entry, shares: make([]float64, len(units))})
		}
		ns, err := number(c.Metrics[duration])
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", c.Name, duration, err)
		}
		rows[i].launches++
		rows[i].ns += ns
		for k, u := range units {
			share, err := number(c.Metrics[u.metric])
			if err != nil {
				return "", fmt.Errorf("%s: %s: %w", c.Name, u.metric, err)
			}
			rows[i].shares[k] += share * ns
		}
	}
	columns := []string{"rung", "entry", "launches", "us"}
	for _, u := range units {
		columns = append(columns, u.title+" %")
	}
	var cells [][]string
	for _, r := range rows {
		line := []string{r.of, r.entry, strconv.Itoa(r.launches), strconv.FormatFloat(r.ns/1000, 'f', 1, 64)}
		for _, s := range r.shares {
			line = append(line, strconv.FormatFloat(s/r.ns, 'f', 0, 64))
		}
		cells = append(cells, line)
	}
	return markdown(columns, cells), nil
}

// number is a value as ncu prints it: digits in groups, and a unit.
func number(text string) (float64, error) {
	value, _, _ := strings.Cut(text, " ")
	return strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
}
