package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sequence is a session: cells in order, each with its expected answer.
type sequence struct {
	name, file string
	line       int
	cells      []*step
}

type step struct {
	line int
	code string
	want map[string]string // part of the answer to text
}

// parts are the parts of an answer that a step can expect. A part that is not named
// must be empty; of error and stderr each line must occur, the others must be equal. In
// stdout ~ stands for any text.
var parts = []string{"value", "stdout", "stderr", "error", "display"}

// readSequences reads a file of sequences:
//
//	=== name
//	--- cell
//	1 + 1
//	--- value
//	2
func readSequences(t *testing.T, file string) []*sequence {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*sequence
	var cur *step
	part := ""
	for i, line := range strings.Split(string(data), "\n") {
		if name, ok := strings.CutPrefix(line, "=== "); ok {
			all = append(all, &sequence{name: name, file: filepath.Base(file), line: i + 1})
			cur, part = nil, ""
			continue
		}
		if p, ok := strings.CutPrefix(line, "--- "); ok {
			part = p
			if part == "cell" {
				cur = &step{line: i + 1, want: map[string]string{}}
				s := all[len(all)-1]
				s.cells = append(s.cells, cur)
			}
			continue
		}
		switch {
		case cur == nil:
		case part == "cell":
			cur.code += line + "\n"
		default:
			cur.want[part] += line + "\n"
		}
	}
	return all
}

// deep are the sequences that fill the stack of one goroutine.
var deep = []string{"deep recursion", "deep recursion ends with its place", "stack overflow"}

func TestSequences(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no sequences", err)
	}
	for _, f := range files {
		for _, s := range readSequences(t, f) {
			t.Run(strings.TrimSuffix(s.file, ".txt")+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if raceEnabled && slices.Contains(deep, s.name) {
					t.Skip("calls take more stack and time under the race detector than the program allows, and one goroutine has nothing to race")
				}
				s.check(t)
			})
		}
	}
}

func (s *sequence) check(t *testing.T) {
	c := start(t)
	for _, step := range s.cells {
		e := c.run(strings.TrimSuffix(step.code, "\n"))
		got := map[string]string{"stdout": c.out.take(), "stderr": c.err.take()}
		got["value"], _ = e.Data["text/plain"].(string)
		if e.Error != nil {
			got["error"] = e.Error.Name + ": " + e.Error.Value + "\n" + strings.Join(e.Error.Traceback, "\n")
		}
		for drained := false; !drained; {
			select {
			case d := <-c.shown:
				got["display"] += d.Data["text/plain"].(string) + "\n"
			default:
				drained = true
			}
		}
		for _, part := range parts {
			if !matches(part, got[part], step.want[part]) {
				t.Errorf("%s:%d: %s\n--- got %s\n%s\n--- want\n%s", s.file, step.line, step.code, part, got[part], step.want[part])
			}
		}
		if t.Failed() {
			return
		}
	}
}

func matches(part, got, want string) bool {
	got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	if part == "stdout" && strings.Contains(want, "~") {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "~", `.*`)
		return regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(got)
	}
	if part != "error" && part != "stderr" || want == "" || got == "" {
		return got == want
	}
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(got, line) {
			return false
		}
	}
	return true
}

// TestParts rejects a misspelt part, which would otherwise not be checked.
func TestParts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, f := range files {
		names := map[string]bool{}
		for _, s := range readSequences(t, f) {
			if names[s.name] || len(s.cells) == 0 {
				t.Errorf("%s:%d: sequence %s: twice, or empty", s.file, s.line, s.name)
			}
			names[s.name] = true
			for _, step := range s.cells {
				for p := range step.want {
					if !strings.Contains(" "+strings.Join(parts, " ")+" ", " "+p+" ") {
						t.Errorf("%s:%s: no part %q", s.file, strconv.Itoa(step.line), p)
					}
				}
			}
		}
	}
}
