package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTally(t *testing.T) {
	for _, test := range []struct {
		record string
		want   Tally
		failed []string
	}{
		{`{"kind": "checks", "title": "t", "rows": [{"name": "a", "verdict": "PASS"}, {"verdict": "FAIL (expected)"}]}`, Tally{2, 2, 1}, nil},
		{`{"kind": "checks", "title": "t", "rows": [{"name": "a", "verdict": "FAIL"}]}`, Tally{1, 0, 0}, []string{`row 1 "a" of "t": FAIL`}},
		{`{"kind": "checks", "rows": [{"verdict": "PASS (failure expected)"}]}`, Tally{1, 0, 0}, []string{`row 1 "" of "": PASS (failure expected)`}},
		{`{"kind": "checks", "rows": [{"verdict": "pass"}]}`, Tally{1, 0, 0}, []string{`row 1 "" of "": verdict "pass", expected one of PASS, FAIL, FAIL (expected), PASS (failure expected)`}},
		{`{"kind": "checks", "rows": [{"name": "a"}, {"verdict": null}]}`, Tally{2, 0, 0}, []string{`row 1 "a" of "": no verdict`, `row 2 "" of "": no verdict`}},
		{`{"kind": "checks", "rows": [{"verdict": ""}]}`, Tally{1, 0, 0}, []string{`row 1 "" of "": verdict "", expected one of PASS, FAIL, FAIL (expected), PASS (failure expected)`}},
		{`{"kind": "figures", "rows": [{"name": "a", "us": 3}, {"name": "b", "verdict": "FAIL"}]}`, Tally{1, 0, 0}, []string{`row 2 "b" of "": FAIL`}},
		{`{"kind": "environment", "environment": {"device": "x"}}`, Tally{}, nil},
	} {
		r, err := Parse(decode(t, test.record))
		if err != nil {
			t.Errorf("%s: %v", test.record, err)
			continue
		}
		var got Tally
		var failed []string
		got.Add(r, func(row, reason string) { failed = append(failed, row+": "+reason) })
		if got != test.want || !reflect.DeepEqual(failed, test.failed) {
			t.Errorf("%s: %+v %q, expected %+v %q", test.record, got, failed, test.want, test.failed)
		}
	}
}

// Two tables of the same latencies count once; two equal checks are two checks.
func TestMeasurements(t *testing.T) {
	figures := `{"kind": "figures", "title": "t", "rows": [{"name": "a", "verdict": "PASS", "total": {"median_ns": %s}}]}`
	var m Measurements
	for i, c := range []struct {
		record string
		first  bool
	}{
		{strings.Replace(figures, "%s", "7", 1), true}, {strings.Replace(figures, "%s", "7", 1), false}, {strings.Replace(figures, "%s", "8", 1), true},
		{`{"kind": "checks", "title": "t"}`, true}, {`{"kind": "checks", "title": "t"}`, true},
	} {
		if got := m.First(decode(t, c.record)); got != c.first {
			t.Errorf("record %d: first %v, expected %v", i, got, c.first)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`"x"`:                              "expected an object",
		`[]`:                               "expected an object",
		`{"rows": {}}`:                     "expected an object with kind, title and rows",
		`{"rows": [{"verdict": 1}]}`:       "expected an object with kind, title and rows",
		`{"kind": "checks", "title": "t"}`: `"t" has no rows`,
		`{"schema": 2, "title": "t"}`:      `"t" is of version 2, expected at most 1`,
		`{"schema": "1"}`:                  "expected an object",
		`{"kind": "checks", "title": "t", "rows": []}`: `"t" has no rows`,
	} {
		if _, err := Parse(decode(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}
