package published

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// section is a section of the notes, and the cells that cover it.
type section struct {
	Note    string   `json:"note"`
	Section string   `json:"section"` // its line in the note
	Cells   []string `json:"cells"`   // "NOTEBOOK ID"
	Comment string   `json:"comment"` // why it has no cell, or what is left out
}

func readSections(t *testing.T) (sections []section) {
	t.Helper()
	text, err := os.ReadFile("sections.json")
	if err == nil {
		err = json.Unmarshal(text, &sections)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sections
}

// TestSectionsHaveCells holds sections.json against the notebooks: each cell is there.
func TestSectionsHaveCells(t *testing.T) {
	cells := map[string]bool{}
	paths, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var notebook struct {
			Cells []struct {
				ID   string `json:"id"`
				Type string `json:"cell_type"`
			}
		}
		if err := json.Unmarshal(text, &notebook); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range notebook.Cells {
			if c.Type == "code" {
				cells[strings.TrimSuffix(filepath.Base(path), ".ipynb")+" "+c.ID] = true
			}
		}
	}
	for _, s := range readSections(t) {
		if len(s.Cells) == 0 && s.Comment == "" {
			t.Errorf("%s, %s: no cell, and no comment that says why", s.Note, s.Section)
		}
		for _, c := range s.Cells {
			if !cells[c] {
				t.Errorf("%s, %s: no code cell %q: correct sections.json", s.Note, s.Section, c)
			}
		}
	}
}

// mostProse is how many lines of prose stand between two sections of note 003, which has
// no headings: its sections in sections.json are lines that begin one.
const mostProse = 20

var (
	heading = regexp.MustCompile(`^#+ `)
	han     = regexp.MustCompile(`\p{Han}`)
)

// TestSectionsMatchNotes holds sections.json against the notes: each of its lines is there,
// in order, and no section of the five notes is left out.
func TestSectionsMatchNotes(t *testing.T) {
	notes := readNotes(t)
	listed := map[string][]string{}
	for _, s := range readSections(t) {
		listed[s.Note] = append(listed[s.Note], strings.TrimSpace(s.Section))
	}
	for note, lines := range notes {
		if note == "003" {
			continue
		}
		var found []string
		for _, line := range prose(lines) {
			// A listing of note 000 stands outside of its fence.
			if line = strings.TrimSpace(line); heading.MatchString(line) && !strings.HasPrefix(line, "# include") {
				found = append(found, line)
			}
		}
		left := slices.Clone(listed[note])
		for _, section := range found {
			at := slices.Index(left, section)
			if at < 0 {
				t.Errorf("%s: section %q is not in sections.json", note, section)
				continue
			}
			left = slices.Delete(left, at, at+1)
		}
		for _, section := range left {
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) == section }) {
				t.Errorf("%s has no line %q", note, section)
			}
		}
	}
	sections, count, after := listed["003"], 0, "its start"
	for _, line := range prose(notes["003"]) {
		switch {
		case len(sections) > 0 && strings.TrimSpace(line) == sections[0]:
			sections, count, after = sections[1:], 0, sections[0]
		case han.MatchString(line):
			if count++; count == mostProse+1 {
				t.Errorf("003: more than %d lines of prose after %q are in no section of sections.json", mostProse, after)
			}
		}
	}
	if len(sections) > 0 {
		t.Errorf("003 has no line %q after %q", sections[0], after)
	}
}

// prose are the lines of a note outside of its listings.
func prose(lines []string) (kept []string) {
	code := false
	for _, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		} else if !code {
			kept = append(kept, line)
		}
	}
	return kept
}
