package ops

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The times that the tables of the notes have for a GPU are medians of the committed runs on
// it: a new run leaves no old figure in the text.
func TestNotesHaveMeasuredTimes(t *testing.T) {
	folders, err := filepath.Glob("*/notes.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\w+)[^|]*\|.*\| ([^|]* \((?:H100|H200)\)) \|`)
	ofGPU := regexp.MustCompile(`([^()]+) \((H100|H200)\)`)
	place := regexp.MustCompile(`at 2\^\d+|(\d) (\d{3})\b`) // a size, and groups of digits
	number := regexp.MustCompile(`\d+(\.\d+)?`)
	compared := 0
	for _, notes := range folders {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			for _, part := range ofGPU.FindAllStringSubmatch(m[2], -1) {
				rung, got, gpu := m[1], place.ReplaceAllString(part[1], "$1$2"), part[2]
				medians := mediansOf(t, filepath.Dir(notes), gpu)[rung]
				if len(medians) == 0 {
					t.Errorf("%s: %s: no committed run of an %s has it", notes, rung, gpu)
				}
				for _, figure := range number.FindAllString(got, -1) {
					compared++
					if !slices.ContainsFunc(medians, func(us float64) bool { return rounds(figure, us) }) {
						t.Errorf("%s: %s: %s us is none of the medians committed for an %s, %v", notes, rung, figure, gpu, medians)
					}
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d times compared, expected at least 100", compared)
	}
}

// A command of the notes that times an operator at the sizes of a bench of .ci/gpu is that
// bench: the figures beside the command come from it. Headlines are in no notes.
func TestCommandsOfNotesAreBenches(t *testing.T) {
	list, err := os.ReadFile("../.ci/gpu-benches.txt")
	if err != nil {
		t.Fatal(err)
	}
	size := regexp.MustCompile(`--size \S+ ?`)
	at := func(command string) string { // its operator and sizes, and what it counts
		operator, _, _ := strings.Cut(command, " ")
		_, counters, _ := strings.Cut(command, " --counters")
		return operator + " " + strings.Join(size.FindAllString(command+" ", -1), "") + counters
	}
	benches := map[string][]string{}
	for line := range strings.Lines(string(list)) {
		if row := strings.Split(line, "|"); len(row) == 3 && strings.TrimSpace(row[0]) != "headlines" && !strings.Contains(row[2], "--set") && !strings.Contains(row[2], "--data") {
			command := strings.TrimSpace(row[1]) + " " + strings.TrimSpace(row[2])
			benches[at(command)] = append(benches[at(command)], command)
		}
	}
	folders, err := filepath.Glob("*/notes.md")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, notes := range folders {
		text, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`go run ./ops/cmd/bench ([^`]+)`").FindAllStringSubmatch(string(text), -1) {
			same := benches[at(m[1])]
			if len(same) == 0 {
				continue // not a bench of .ci/gpu
			}
			if compared++; !slices.Contains(same, m[1]) {
				t.Errorf("%s: %s: .ci/gpu runs %s", notes, m[1], strings.Join(same, " or "))
			}
		}
	}
	if compared < 10 {
		t.Errorf("%d commands compared, expected at least 10", compared)
	}
}

// mediansOf are the times of the rungs of a folder in its committed runs on a GPU.
func mediansOf(t *testing.T, folder, gpu string) map[string][]float64 {
	files, err := filepath.Glob(folder + "/measured/*." + strings.ToLower(gpu) + ".json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for _, file := range files {
		for _, m := range readMeasured(t, file) {
			for name, us := range m.US {
				all[name] = append(all[name], us)
				if m.Operator != "" {
					all[m.Operator+"_"+name] = append(all[m.Operator+"_"+name], us)
				}
			}
		}
	}
	return all
}

// A notebook that shows a paragraph of a note names its first words, and the note has one
// paragraph that begins with them.
func TestNotebooksShowParagraphsOfNotes(t *testing.T) {
	notebooks, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, path := range notebooks {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\b(gemm|ops\.\w+)\.Note\(\\"([^"\\]+)\\"\)`).FindAllStringSubmatch(string(text), -1) {
			shown++
			folder := strings.ToLower(strings.TrimPrefix(m[1], "ops."))
			note, err := os.ReadFile(folder + "/notes.md")
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(note), "\n\n"+m[2]); n != 1 {
				t.Errorf("%s: %d paragraphs of ops/%s/notes.md begin with %q, expected one", path, n, folder, m[2])
			}
		}
	}
	if shown < 5 {
		t.Errorf("%d paragraphs are shown, expected those of notebooks 02 and 05 at least", shown)
	}
}
