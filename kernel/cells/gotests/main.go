// The gotests command runs the run-tests of the Go distribution as cells:
//
//	go run ./kernel/cells/gotests [-jobs 2] [-limit 30s] [-v] [PATTERN...]
//
// It runs each program below $GOROOT/test that begins with "// run" and whose build
// constraints hold here. A program is one cell in a new session, with a call of main as
// its last line. It passes if the cell ends without an error or with os.Exit(0), and if
// its output equals the .out file beside it, where there is one.
//
// The command prints the number of programs that pass and the programs that fail, with
// the reason from left.txt. The command fails if a program fails that left.txt does not
// list.
//
// The distributions of go.dev/dl contain the folder test. The toolchains that the go
// command fetches as modules do not: for those, -root names a distribution's folder.
package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"go/build/constraint"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

//go:embed left.txt
var leftText string

func main() {
	jobs := flag.Int("jobs", runtime.NumCPU(), "programs that run at once")
	limit := flag.Duration("limit", 30*time.Second, "longest time of a program")
	root := flag.String("root", "", "folder of a Go distribution; that of the go command if empty")
	verbose := flag.Bool("v", false, "print what each program that is left ends with")
	flag.Parse()
	if err := run(*root, *jobs, *limit, *verbose, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gotests:", err)
		os.Exit(1)
	}
}

// outcome is how a program ended, "" if it passed.
type outcome struct{ name, failure string }

func run(root string, jobs int, limit time.Duration, verbose bool, patterns []string) error {
	if root == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("go env GOROOT: %w", err)
		}
		root = strings.TrimSpace(string(out))
	}
	dir := filepath.Join(root, "test")
	names, err := programs(dir, patterns)
	if err != nil {
		return fmt.Errorf("%w: expected the folder test of a Go distribution from go.dev/dl, which -root names", err)
	}
	known := reasons(leftText)
	cells, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return err
	}
	outcomes := make([]outcome, len(names))
	var wg sync.WaitGroup
	next := make(chan int)
	for range jobs {
		wg.Go(func() {
			for i := range next {
				outcomes[i] = outcome{names[i], try(cells, dir, names[i], limit)}
			}
		})
	}
	for i := range names {
		fmt.Fprintf(os.Stderr, "\rgotests: %d of %d ", i, len(names))
		next <- i
	}
	close(next)
	wg.Wait()
	fmt.Fprintln(os.Stderr)
	return report(outcomes, known, verbose, len(patterns) == 0)
}

// report prints the outcomes, and fails on an unlisted one.
func report(outcomes []outcome, known map[string]string, verbose, all bool) error {
	passed, unknown := 0, 0
	var better []string
	for _, o := range outcomes {
		reason, left := known[o.name]
		switch {
		case o.failure == "":
			if passed++; left {
				better = append(better, o.name)
			}
			continue
		case !left:
			unknown++
			reason = "not in left.txt"
		}
		fmt.Printf("%s: %s\n", o.name, reason)
		if verbose || !left {
			fmt.Printf("    %s\n", o.failure)
		}
	}
	fmt.Printf("%d of %d programs of $GOROOT/test pass as cells\n", passed, len(outcomes))
	if all && len(better) > 0 {
		fmt.Printf("left.txt names %d that pass: %s\n", len(better), strings.Join(better, " "))
	}
	if unknown > 0 {
		return fmt.Errorf("%d programs fail that left.txt does not name", unknown)
	}
	return nil
}

// reasons reads left.txt: a line with a reason, and below it the programs, each
// indented by a tab.
func reasons(text string) map[string]string {
	known, reason := map[string]string{}, ""
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "\t"); ok {
			known[name] = reason
		} else {
			reason = s.Text()
		}
	}
	return known
}

// programs returns the run-tests below a folder whose build constraints hold, by their
// paths in it.
func programs(dir string, patterns []string) (names []string, err error) {
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

// try runs a program as a cell and returns how it failed.
func try(cells, dir, name string, limit time.Duration) string {
	src, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err.Error()
	}
	if !packageClause.Match(src) {
		return "no package main"
	}
	s, err := cellproc.Start(cellproc.Config{Program: cells, Dir: filepath.Dir(filepath.Join(dir, name))})
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	var mu sync.Mutex
	var out strings.Builder
	sink := func(e cellproto.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Type == cellproto.Stream && out.Len() < 1<<20 && !strings.HasPrefix(e.Text, "warning: ") {
			out.WriteString(e.Text)
		}
	}
	timer := time.AfterFunc(limit, s.Kill)
	done, err := s.Execute(context.Background(), string(src)+"\nmain()\n", 1, sink)
	if !timer.Stop() {
		return fmt.Sprintf("runs longer than %v", limit)
	}
	mu.Lock()
	defer mu.Unlock()
	switch {
	case err != nil:
		return firstLine(err.Error())
	case done.Error != nil && done.Error.Value != "the cell called os.Exit(0); the session goes on":
		return firstLine(done.Error.Name + ": " + done.Error.Value)
	}
	want, err := os.ReadFile(strings.TrimSuffix(filepath.Join(dir, name), ".go") + ".out")
	if err == nil && out.String() != string(want) {
		return "prints something else than its .out file"
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
