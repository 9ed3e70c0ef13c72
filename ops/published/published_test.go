package published

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// notesVariable names the folder of the founding notes, which are not part of
// this repository.
const notesVariable = "WARPBOOK_NOTES"

// readNotes returns the lines of each note by its number.
func readNotes(t *testing.T) map[string][]string {
	t.Helper()
	dir := os.Getenv(notesVariable)
	if dir == "" {
		t.Skipf("needs the founding notes: set %s to their folder, as CI does", notesVariable)
	}
	files, err := filepath.Glob(filepath.Join(dir, "00[0-4]_*.txt"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%s=%s: %d files 000_*.txt to 004_*.txt, expected 5 (%v)", notesVariable, dir, len(files), err)
	}
	found := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(file)[:3]] = strings.Split(string(text), "\n")
	}
	return found
}

// TestFigures checks what can be checked without the notes.
func TestFigures(t *testing.T) {
	for _, f := range All() {
		if !strings.HasPrefix(f.Kernel, f.Note+" ") || f.Experiment == "" || f.Quantity == "" || f.Section == "" || len(f.Quote) == 0 {
			t.Errorf("%+v lacks a kernel, experiment, quantity, section or quote", f)
		}
		if number := f.Unit != ""; number != (f.Value != 0) || !number && f.Words == "" && f.Image == "" {
			t.Errorf("%s, %s: expected a number with a unit, words or an image", f.Kernel, f.Quantity)
		}
		if len(f.Size) == 0 && f.Unit != "cycles" && !strings.Contains(f.Comment, "size") && f.Words == "" {
			t.Errorf("%s, %s: no size, and no comment that it is not said", f.Kernel, f.Quantity)
		}
	}
	if n := len(All()); n < 100 {
		t.Errorf("%d figures, expected at least 100", n)
	}
}

// TestOf checks that Of names an unknown quantity, and returns all places of a known one.
func TestOf(t *testing.T) {
	v4 := Of("000 reduce_v4", "latency")
	if len(v4) != 2 || v4[0].String() != "1.147 ms" || v4[0].Where() != "000 list" || v4[1].String() != "0.694 ms" || v4[1].Where() != "000 2.6 code" {
		t.Errorf("reduce_v4 has %v, expected the two figures of the list and of the code", v4)
	}
	for _, test := range []struct{ kernel, quantity, text string }{
		{"000 reduce_v2", "latency", "only as an image"},
		{"002 reduce_shared", "latency", "in words: not faster than reduce_global"},
		{"002 transpose padded", "latency", "0.0190464 ± 0.000501629 ms"},
		{"002 reduce_global", "gain over the CPU", "17x"},
	} {
		if got := Of(test.kernel, test.quantity)[0].String(); got != test.text {
			t.Errorf("%s of %s is %q, expected %q", test.quantity, test.kernel, got, test.text)
		}
	}
	defer func() {
		if why, _ := recover().(string); !strings.Contains(why, `no latency of "000 reduce_v9", expected one of`) {
			t.Errorf("panic %q, expected the names that there are", why)
		}
	}()
	Of("000 reduce_v9", "latency")
}

// TestAgainstTheNotes compares notes.json with the notes, both ways.
func TestAgainstTheNotes(t *testing.T) {
	lines := readNotes(t)
	t.Run("every figure is in the notes", func(t *testing.T) { compareFigures(t, lines) })
	t.Run("every figure of the notes is here", func(t *testing.T) { compareNotes(t, lines) })
}

// compareFigures finds every figure in its section, with its digits, its size
// and its device.
func compareFigures(t *testing.T, lines map[string][]string) {
	var sections = map[string][]string{} // of each note, those that figures name
	for _, f := range All() {
		if !slices.Contains(sections[f.Note], f.Section) {
			sections[f.Note] = append(sections[f.Note], f.Section)
		}
	}
	for i, f := range All() {
		section := sectionOf(t, lines[f.Note], f.Section, sections[f.Note])
		if !quoted(section, f.Quote) {
			t.Errorf("%s, %s: section %q does not have %q", f.Kernel, f.Quantity, f.Section, f.Quote)
		}
		printed := strings.Join(f.Quote, "\n")
		for _, digits := range digitsOf(t, i) {
			if !regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(digits) + `([^0-9.]|$)`).MatchString(printed) {
				t.Errorf("%s, %s: %s is not in %q", f.Kernel, f.Quantity, digits, printed)
			}
		}
		note := strings.Join(lines[f.Note], "\n")
		if f.SizeQuote != "" && !strings.Contains(note, f.SizeQuote) {
			t.Errorf("%s, %s: note %s does not have %q", f.Kernel, f.Quantity, f.Note, f.SizeQuote)
		}
		for _, n := range f.Size {
			if !strings.Contains(printed+f.SizeQuote, sizeText(n)) {
				t.Errorf("%s, %s: size %d is in neither %q nor %q", f.Kernel, f.Quantity, n, printed, f.SizeQuote)
			}
		}
		if f.Device != "" && f.Device != "CPU unknown" && !strings.Contains(note, "Device name: "+f.Device+"\n") {
			t.Errorf("%s, %s: note %s does not print the device %s", f.Kernel, f.Quantity, f.Note, f.Device)
		}
		if f.Image != "" && !strings.Contains(strings.Join(section, "\n"), f.Image) {
			t.Errorf("%s, %s: section %q does not have the image %s", f.Kernel, f.Quantity, f.Section, f.Image)
		}
	}
}

// sizeText is a size as the notes print it.
func sizeText(n int) string {
	switch n {
	case 1 << 30:
		return "1<<30"
	case (1<<31 - 1) / 2:
		return "2^31-1"
	}
	return strconv.Itoa(n)
}

// sectionOf returns the lines from a section's heading up to the next one that
// a figure names. The heading is one whole line of the note.
func sectionOf(t *testing.T, lines []string, heading string, all []string) []string {
	t.Helper()
	start := -1
	for i, line := range lines {
		switch line = strings.TrimSpace(line); {
		case line == heading && start >= 0:
			t.Fatalf("two lines %q, expected one", heading)
		case line == heading:
			start = i
		}
	}
	if start < 0 {
		t.Fatalf("no line %q", heading)
	}
	for end := start + 1; end < len(lines); end++ {
		if slices.Contains(all, strings.TrimSpace(lines[end])) {
			return lines[start:end]
		}
	}
	return lines[start:]
}

// quoted reports whether lines have the quotes in order, at most 20 lines apart
// in all.
func quoted(lines, quotes []string) bool {
	for start := range lines {
		next := 0
		for _, line := range lines[start:min(start+20, len(lines))] {
			for next < len(quotes) && strings.Contains(line, quotes[next]) {
				next++
			}
		}
		if next == len(quotes) {
			return true
		}
	}
	return false
}

// digitsOf returns the numbers of a figure as notes.json writes them.
func digitsOf(t *testing.T, i int) (digits []string) {
	t.Helper()
	var raw struct {
		Figures []struct {
			Value     json.Number
			PlusMinus json.Number `json:"plus_minus"`
		}
	}
	if err := json.NewDecoder(bytes.NewReader(notes)).Decode(&raw); err != nil {
		t.Fatal(err)
	}
	for _, n := range []json.Number{raw.Figures[i].Value, raw.Figures[i].PlusMinus} {
		if n != "" {
			digits = append(digits, n.String())
		}
	}
	return digits
}

// measured matches a line that may print a figure: a number with a unit of
// time, rate or gain.
var measured = regexp.MustCompile(`[0-9] *(ms|us|GFLOPS|周期|cycles?|GB/s|TB/s)|倍|加速比 =|[0-9]:[0-9]+` + "`")

// image matches the file of an image, without its ending.
var image = regexp.MustCompile(`([\w-]+)\.(?:png|jpg)`)

// compareNotes goes the other way: every line of the notes that looks like a
// figure, and every image, is in notes.json.
func compareNotes(t *testing.T, notes map[string][]string) {
	d := parsed()
	counted := 0
	for note, lines := range notes {
		var known []string
		var images []string
		for _, f := range d.Figures {
			if f.Note == note {
				known = append(known, f.Quote...)
				images = append(images, strings.TrimSuffix(f.Image, ".png"))
			}
		}
		for _, n := range d.NotFigures {
			if n.Reason == "" {
				t.Errorf("%q has no reason", n.Quote)
			}
			if n.Note == note {
				known = append(known, n.Quote)
			}
		}
		images = append(images, d.Drawings[note]...)
		for i, line := range lines {
			has := func(quote string) bool { return strings.Contains(line, quote) }
			if measured.MatchString(line) {
				if counted++; !slices.ContainsFunc(known, has) {
					t.Errorf("note %s, line %d: %q is not in notes.json", note, i+1, line)
				}
			}
			for _, file := range image.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(images, file[1]) {
					t.Errorf("note %s, line %d: image %s is not in notes.json", note, i+1, file[1])
				}
			}
		}
	}
	if counted < 90 {
		t.Errorf("%d lines look like a figure, expected at least 90", counted)
	}
}
