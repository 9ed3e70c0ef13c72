package ops

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// The page says whether a rung of its table is slower than its library. That the table is
// made of the committed runs is a test of ops/cmd/measured.
func TestFiguresSaySlower(t *testing.T) {
	text, err := os.ReadFile("figures.md")
	if err != nil {
		t.Fatal(err)
	}
	slower := regexp.MustCompile(`(?m)^\|.* SLOWER \| \d+ \|$`).MatchString(string(text))
	if says := strings.Contains(string(text), "No rung of this table is slower than its library."); says == slower {
		t.Errorf("figures.md says that no rung is slower: %v, and a row is SLOWER: %v", says, slower)
	}
}

// README shows ten rows of figures.md as they stand there, and counts its rows.
func TestReadmeShowsTenFigures(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := os.ReadFile("figures.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| .* us `\\w+` \\| .*$")
	all := row.FindAllString(string(figures), -1)
	shown := row.FindAllString(string(readme), -1)
	for _, r := range shown {
		if !slices.Contains(all, r) {
			t.Errorf("README.md: %s: not a row of ops/figures.md, expected a copy of one", r)
		}
	}
	if len(shown) != 10 {
		t.Errorf("README.md shows %d rows, expected ten", len(shown))
	}
	if says := fmt.Sprintf("[All figures](ops/figures.md): %d rows", len(all)); !strings.Contains(string(readme), says) {
		t.Errorf("README.md does not say %q", says)
	}
}

// README and the emulator's decisions say how many launches are compared with the profiler.
func TestTextsCountProfiledLaunches(t *testing.T) {
	files, err := filepath.Glob("*/profiles/*.h200.json")
	if err != nil {
		t.Fatal(err)
	}
	launches := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		var profile struct{ Launches []json.RawMessage }
		if err == nil {
			err = json.Unmarshal(text, &profile)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		launches += len(profile.Launches)
	}
	for _, name := range []string{"../README.md", "../gpu/emu/RATIONALE.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if says := fmt.Sprintf("for %d launches of the reduce and GEMM ladders", launches); !strings.Contains(string(text), says) {
			t.Errorf("%s does not say %q, which is what %d profiles hold", name, says, len(files))
		}
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

// rounds reports whether a text is a value, rounded to the digits that it shows.
func rounds(text string, value float64) bool {
	shown, err := strconv.ParseFloat(text, 64)
	digits := 0
	if i := regexp.MustCompile(`\.\d+$`).FindString(text); i != "" {
		digits = len(i) - 1
	}
	return err == nil && math.Abs(shown-value) <= 0.5000001*math.Pow(10, -float64(digits))
}
