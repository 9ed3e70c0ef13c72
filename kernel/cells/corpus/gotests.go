package corpus

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"go/build/constraint"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

//go:embed gotests.txt
var leftGoTests string

//go:embed gotests-cut.txt
var leftCut string

// LeftGoTests are the run-tests that do not pass, whole or cut into cells, with their reasons.
func LeftGoTests(cut bool) map[string]string {
	left := Reasons(leftGoTests)
	if cut {
		maps.Copy(left, Reasons(leftCut))
	}
	return left
}

// GoTest is how a run-test of the Go distribution runs: as one cell, or cut into a cell for
// each declaration; once or more often in a session. Limit is the longest time of a cell.
type GoTest struct {
	Cut   bool
	Runs  int
	Limit time.Duration
}

// GoTests returns the run-tests below a folder whose build constraints hold, by their
// paths in it.
func GoTests(dir string, patterns []string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if line, _, _ := bytes.Cut(data, []byte("\n")); string(line) != "// run" || !fits(data) {
			return nil
		}
		if len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return strings.Contains(name, p) }) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// fits reports whether the build constraints of a program hold for the go command that
// builds the cells program.
func fits(src []byte) bool {
	for s := bufio.NewScanner(bytes.NewReader(src)); s.Scan(); {
		line := s.Text()
		if strings.HasPrefix(line, "package ") {
			break
		}
		if x, err := constraint.Parse(line); err == nil && constraint.IsGoBuild(line) {
			return x.Eval(func(tag string) bool {
				return tag == runtime.GOOS || tag == runtime.GOARCH || tag == "gc" || tag == "cgo" ||
					tag == "unix" && runtime.GOOS != "windows" || strings.HasPrefix(tag, "go1.")
			})
		}
	}
	return true
}

var packageClause = regexp.MustCompile(`(?m)^package main\b`)

// TryAll runs programs of a folder. One that fails in a session that others have used runs
// again in a new one, and that outcome counts. The outcomes are in the order of the names.
func (o GoTest) TryAll(program, dir string, names []string, jobs int) []Outcome {
	return slices.Concat(Each(inGroups(names, jobs), jobs, func(group []string) (outcomes []Outcome) {
		r := reused{program: program, limit: o.Limit}
		defer r.close()
		for _, name := range group {
			outcomes = append(outcomes, Outcome{name, r.try(filepath.Dir(filepath.Join(dir, name)), func(s *Session) string { return o.try(s, dir, name) })})
		}
		return outcomes
	})...)
}

// try runs a program of a folder in a session, and returns how it failed.
func (o GoTest) try(s *Session, dir, name string) string {
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	if !packageClause.Match(src) {
		return "no package main"
	}
	cells := []string{string(src) + "\nmain()\n"}
	if o.Cut {
		if cells, err = Cut(string(src)); err != nil {
			return err.Error()
		}
	}
	expected := expectedOf(dir, name)
	for i := range o.Runs {
		failure, output, _ := RunAll(s, cells)
		if i > 0 && isRegistry(failure) {
			return ""
		}
		if failure == "" {
			failure = expected.unlike(output)
		}
		if failure != "" && i > 0 {
			failure = "again: " + failure
		}
		if failure != "" {
			return failure
		}
	}
	return ""
}

// expectedOutput is what a program prints: as its file .out says, if there is one, and again
// what it printed before, unless it prints addresses.
type expectedOutput struct {
	text  string
	known bool
}

func expectedOf(dir, name string) *expectedOutput {
	text, err := os.ReadFile(strings.TrimSuffix(filepath.Join(dir, name), ".go") + ".out")
	return &expectedOutput{string(text), err == nil}
}

func (x *expectedOutput) unlike(output string) string {
	if x.known && output != x.text {
		return fmt.Sprintf("prints %.300q, expected %.300q", output, x.text)
	}
	x.text, x.known = output, x.known || !strings.Contains(output, "0x")
	return ""
}

// twice returns what tells how two passes of a program's cells differ from what it prints.
func goTestTwice(dir, name string) func(passes [2]Printed) string {
	return func(passes [2]Printed) string {
		expected := expectedOf(dir, name)
		for i, p := range passes {
			if failure := expected.unlike(p.Both); failure != "" {
				return fmt.Sprintf("run %d: %s", i+1, failure)
			}
		}
		return ""
	}
}
