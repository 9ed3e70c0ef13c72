package ops

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// measuredTimes are the times of one size in a measured file.
type measuredTimes struct {
	Operator string // "" for that of the folder
	US       map[string]float64
	Range    map[string][2]float64 `json:"range_us"`
}

// README's rows in microseconds are medians or ranges of one committed run, in which
// the library is the fastest, and their verdicts are those of the ranges.
func TestReadmeTableIsMeasured(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/measured/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []measuredTimes
	for _, file := range files {
		all = append(all, readMeasured(t, file)...)
	}
	rows := regexp.MustCompile("(?m)^\\|[^|]*\\| ([\\d.]+)(?: to ([\\d.]+))? us `(\\w+)` \\| [^|]*? ([\\d.]+)(?: to ([\\d.]+))? us \\| ([^|]+) \\|$").FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		found := false
		for _, m := range all {
			rung := row[3]
			if _, ok := m.Range[rung]; !ok {
				rung = strings.TrimPrefix(rung, m.Operator+"_")
			}
			if ours, ok := m.Range[rung]; ok && shows(row[1], row[2], ours, m.US[rung]) {
				found = found || fits(m, rung, row)
			}
		}
		if !found {
			t.Errorf("README.md: %s: no committed run has these figures with this verdict", row[0])
		}
	}
	slower := regexp.MustCompile(`(?m)^\|.* SLOWER \|$`).MatchString(string(text))
	if says := strings.Contains(string(text), "No rung of this table is slower than its library."); says == slower {
		t.Errorf("README.md says that no rung is slower: %v, and a row is SLOWER: %v", says, slower)
	}
	if written := strings.Count(string(text), " us `"); len(rows) != written || written == 0 {
		t.Errorf("%d rows in microseconds are compared, expected all %d", len(rows), written)
	}
}

// readMeasured are the times of a measured file.
func readMeasured(t *testing.T, file string) []measuredTimes {
	t.Helper()
	data, err := os.ReadFile(file)
	var m struct{ Times []measuredTimes }
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(file, err)
	}
	return m.Times
}

// fits reports whether the library of a rung's row is one of the run, and the verdict is right.
func fits(m measuredTimes, rung string, row []string) bool {
	ours := m.Range[rung]
	for name, theirs := range m.Range {
		if name == rung || !shows(row[4], row[5], theirs, m.US[name]) {
			continue
		}
		verdict := "SAME"
		switch ratio := m.US[name] / m.US[rung]; {
		case ours[1] < theirs[0]:
			verdict = fmt.Sprintf("%.2f FASTER", ratio)
		case ours[0] > theirs[1]:
			verdict = fmt.Sprintf("%.2f SLOWER", ratio)
		}
		if verdict == row[6] {
			return true
		}
	}
	return false
}

// shows reports whether low and high are a range, or low alone the median, rounded to
// the digits that they show.
func shows(low, high string, measured [2]float64, median float64) bool {
	if high == "" {
		return rounds(low, median)
	}
	return rounds(low, measured[0]) && rounds(high, measured[1])
}

func rounds(text string, value float64) bool {
	shown, err := strconv.ParseFloat(text, 64)
	digits := 0
	if i := regexp.MustCompile(`\.\d+$`).FindString(text); i != "" {
		digits = len(i) - 1
	}
	return err == nil && math.Abs(shown-value) <= 0.5000001*math.Pow(10, -float64(digits))
}
