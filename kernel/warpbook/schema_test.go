//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/leaf/record"
)

// schema is a schema of kernel/record.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../leaf/record/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits checks the file of a run and its records against their schemas. It returns the
// number of records and of their timings.
func fits(t *testing.T, text string) (records, samples int) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t, "run").Validate(value); err != nil {
		t.Errorf("the file of a run: %v", err)
	}
	one := schema(t, "record")
	for _, cell := range value.(map[string]any)["cells"].([]any) {
		for _, r := range cell.(map[string]any)["records"].([]any) {
			records++
			if err := one.Validate(r); err != nil {
				t.Errorf("a record of cell %v: %v", cell.(map[string]any)["id"], err)
			}
			if _, err := record.Parse(r); err != nil {
				t.Error(err)
			}
			rows, _ := r.(map[string]any)["rows"].([]any)
			for _, row := range rows {
				total, _ := row.(map[string]any)["total"].(map[string]any)
				times, _ := total["samples_ns"].([]any)
				samples += len(times)
			}
		}
	}
	return records, samples
}

// TestRunFitsItsSchema also covers a failed run.
func TestRunFitsItsSchema(t *testing.T) {
	for _, cells := range [][]string{
		{"parameters|n := 1", "out a"}, {"out a", "fail b", "out c"}, {"bundle {\"text/plain\": \"x\"}"},
	} {
		p := newPlace(t)
		p.notebook("x.ipynb", cells...)
		p.warpbook("run", "x.ipynb")
		paths, err := filepath.Glob(p.path("report/*.json"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%v, %v, expected one file", paths, err)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		fits(t, string(text))
	}
	for _, bad := range []string{`{"schema": 1, "kind": "checks", "title": "t", "rows": []}`, `{"schema": 2, "kind": "checks", "title": "t", "rows": [{}]}`,
		`{"schema": 1, "kind": "explanation", "title": "t", "rows": [{"verdict": "pass"}]}`} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if schema(t, "record").Validate(value) == nil {
			t.Errorf("%s fits the schema", bad)
		}
	}
}

// recordsForReal: every record of a bench fits the schema, with all its samples.
func recordsForReal(t *testing.T, cells string) {
	p := newPlace(t)
	p.notebook("x.ipynb",
		"parameters|n := 1000",
		"import (\n\t\"warpbook/gpu/device\"\n\t\"warpbook/ops\"\n)\ndev := device.MustOpen(\"emu\")\nbench := ops.MustBench(dev, ops.Reduce, 7, n)\nfirst, second := ops.Reduce.Variants[2].Name, ops.Reduce.Variants[3].Name",
		"bench.Check(first, second)",
		"bench.Time(first, \"cpu_serial\")",
		"bench.Count(first)",
		"bench.Compare(first, second)",
		"bench.Explain(second)",
	)
	c := p.command("run", "x.ipynb", "--set", "n=1001")
	c.Env = append(c.Env, cellbuild.Env+"="+cells)
	if o := p.finish(c); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	text := p.read("report/x.json")
	if records, samples := fits(t, text); records < 5 || samples < 2 {
		t.Errorf("%d records with %d samples, expected those of five cells", records, samples)
	}
	for _, want := range []string{`"operator": "reduce"`, `"seed": 7`, `"value": "1001",`, `"type": "int"`, `"compute": "sm_`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the file of the run", want)
		}
	}
}

// TestOldRecordsAreRead: the committed results, of version 0 until they are measured
// again, agree with their own summary.
func TestOldRecordsAreRead(t *testing.T) {
	notebooks, err := filepath.Glob("../../notebooks/results/*/*.ipynb")
	var paths []string
	for _, notebook := range notebooks {
		paths = append(paths, strings.TrimSuffix(notebook, ".ipynb")+".json")
	}
	if err != nil || len(paths) < 4 {
		t.Fatalf("%v, %v, expected the committed results", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var run struct {
			Schema int
			Rows   record.Tally `json:"correctness_rows"`
			Cells  []struct{ Records []any }
		}
		if err := json.Unmarshal(text, &run); err != nil {
			t.Fatal(err)
		}
		if run.Schema > 0 {
			fits(t, string(text))
		}
		// A run counts the rows of a measurement once; runs before that counted them in each
		// table that shows it.
		var rows, shown record.Tally
		var measurements record.Measurements
		for _, cell := range run.Cells {
			for _, r := range cell.Records {
				parsed, err := record.Parse(r)
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				shown.Add(parsed, func(row, reason string) { t.Error(path, row, reason) })
				if measurements.First(parsed) {
					rows.Add(parsed, func(string, string) {})
				}
			}
		}
		if says := fmt.Sprint(run.Rows); says != fmt.Sprint(rows) && says != fmt.Sprint(shown) {
			t.Errorf("%s: %+v or %+v, expected %+v as it says", path, rows, shown, run.Rows)
		}
	}
}
