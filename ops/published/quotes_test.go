package published

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// aboutNotes matches text that quotes the notes.
	aboutNotes = regexp.MustCompile(`(?i)\bnotes?\b|\bpublish|笔记|公布`)

	// figure matches a time, a rate or a share of a library's rate.
	figure = regexp.MustCompile(`(\d[\d.]*) ?(ms|us|µs|GFLOP/s|TFLOP/s|of cuBLAS)\b`)

	// ours matches what makes a figure ours: the device of our measurements, or the word.
	ours = regexp.MustCompile(`H200|\bmeasure|实测`)

	sentence = regexp.MustCompile(`[.:;?!]\s+|[。：；？！]|\n\n`)
)

// misquoted returns the figures of a text about the notes that the notes do
// not print. A sentence marked as our measurement is skipped.
func misquoted(text string) (wrong []string) {
	if !aboutNotes.MatchString(text) {
		return nil
	}
	for _, s := range sentence.Split(text, -1) {
		if ours.MatchString(s) {
			continue
		}
		for _, m := range figure.FindAllString(s, -1) {
			if !printed(m) {
				wrong = append(wrong, m)
			}
		}
	}
	return wrong
}

// printed reports whether the notes print a figure such as "999 ms", or one
// that has it as its first digits, rounded.
func printed(text string) bool {
	number, unit, _ := strings.Cut(text, " ")
	_, digits, _ := strings.Cut(number, ".")
	return slices.ContainsFunc(All(), func(f Figure) bool {
		rounded := f.Unit == unit && strconv.FormatFloat(f.Value, 'f', len(digits), 64) == number
		return f.Unit != "" && f.String() == text || rounded && len(strings.Trim(number, "0.")) >= 2
	})
}

func TestMisquoted(t *testing.T) {
	for text, want := range map[string]string{
		"笔记给出的时间是 999 ms。":                                                "",
		"笔记给出的时间是 998 ms。":                                                "998 ms",
		"笔记中的 kernel 在 H200 上用 12 us；公布的是 998 ms。":                        "998 ms",
		"The notes publish 999 ms for it.":                                "",
		"The notes publish 998 ms for it.":                                "998 ms",
		"The notes publish 0.0268 ms for it.":                             "",
		"The notes publish 0.0269 ms for it.":                             "0.0269 ms",
		"The notes end with a kernel at 0.28 of cuBLAS for 512. So do we": "0.28 of cuBLAS",
		"On an H200 the kernel of the notes takes 12 us.":                 "",
		"Nothing is quoted here: 5 ms.":                                   "",
	} {
		if got := strings.Join(misquoted(text), ", "); got != want {
			t.Errorf("%q: misquoted %q, expected %q", text, got, want)
		}
	}
}

// TestNotebooksQuoteTheNotes compares the figures in the text of every notebook
// that speaks of the notes with those that the notes print.
func TestNotebooksQuoteTheNotes(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d notebooks: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var notebook struct {
			Cells []struct {
				ID     string
				Type   string `json:"cell_type"`
				Source []string
			}
		}
		if err := json.Unmarshal(data, &notebook); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, cell := range notebook.Cells {
			if cell.Type != "markdown" {
				continue
			}
			for _, wrong := range misquoted(strings.Join(cell.Source, "")) {
				t.Errorf("%s, cell %s: %s is no figure of the notes: quote notes.json, or name the device that was measured", filepath.Base(file), cell.ID, wrong)
			}
		}
	}
}

// TestLadderQuotesTheNotes checks the column "published" of the tables in reduce's notes.
func TestLadderQuotesTheNotes(t *testing.T) {
	text, err := os.ReadFile("../reduce/notes.md")
	if err != nil {
		t.Fatal(err)
	}
	column, checked := -1, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		switch {
		case len(cells) < 3:
			column = -1
		case column < 0:
			column = slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "published" })
		case column < len(cells):
			for _, figure := range strings.Split(cells[column], " or ") {
				figure = strings.TrimSpace(figure)
				if strings.Contains(line, " or ") && !strings.Contains(figure, " ") {
					figure += " ms" // of "1.147 or 0.694 ms"
				}
				if figure == "-" || strings.HasPrefix(figure, "---") || figure == "only as an image" {
					continue
				}
				if checked++; !printed(figure) {
					t.Errorf("reduce/notes.md: %q is no figure of the notes", figure)
				}
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d published figures in reduce/notes.md, expected at least 8", checked)
	}
}
