// Command mutants shows whether tests see careless changes of the packages that decide:
// verdicts, budgets, sanitising, aborts, limits of a launch, ticks. It makes each of many
// small changes (a boundary, a swapped operator, a constant and one more, a statement left
// out, half of a condition) and runs the tests that reach it. A change that all tests pass
// has survived. survivors.txt lists those that are known, each group below its reason; every
// other survivor is a failure.
//
//	go run ./kernel/mutants                      # all; a few minutes
//	go run ./kernel/mutants -seconds 60          # a sample, the same for the same -seed
//	go run ./kernel/mutants -files budget.go -v  # one file, and what each change was
//
// All mutants of a package are compiled at once, each behind a condition, with the overlay of
// the go command: no source file is touched. It imports nothing of the module.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// target is a package that decides.
type target struct {
	folder string
	files  []string // those that decide
	tests  string   // the package whose tests are run; "": its own
}

var targets = []target{
	{folder: "kernel/leaf/verdict", files: []string{"verdict.go"}},
	{folder: "kernel/compare", files: []string{"compare.go", "statistics.go"}},
	{folder: "ops/results", files: []string{"stats.go", "ratio.go"}},
	{folder: "kernel/zmtp", files: []string{"budget.go"}},
	{folder: "kernel/report", files: []string{"sanitise.go", "bounds.go"}},
	{folder: "kernel/server", files: []string{"abort.go"}},
	{folder: "kernel/display", files: []string{"ticks.go"}},
	{folder: "gpu", files: []string{"check.go"}},
}

// leastScore is the part of all mutants that the tests must see, those of survivors.txt
// included in the count.
const leastScore = 0.9

//go:embed survivors.txt
var survivorsFile string

// known are the survivors of survivors.txt.
func known() map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(survivorsFile) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			names[line] = true
		}
	}
	return names
}

func main() {
	seconds := flag.Int("seconds", 0, "test a sample for so many seconds; 0 tests all")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "of the sample")
	files := flag.String("files", "", "only files whose path contains this")
	verbose := flag.Bool("v", false, "print every mutant")
	flag.Parse()
	if err := run(*seconds, *seed, *files, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// one is a mutant, and the binary that has it.
type one struct {
	*binary
	mutant
}

func run(seconds int, seed uint64, files string, verbose bool) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("the folder of the module: %w", err)
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	r, listed := &result{known: known(), verbose: verbose}, 0
	var all []one
	for _, t := range targets {
		t.files = slices.DeleteFunc(slices.Clone(t.files), func(f string) bool { return !strings.Contains(filepath.Join(t.folder, f), files) })
		if len(t.files) == 0 {
			continue
		}
		b, err := build(strings.TrimSpace(string(out)), scratch, t)
		if err != nil {
			return err
		}
		if err := b.reach(scratch); err != nil {
			return err
		}
		for _, m := range b.mutants {
			if seconds > 0 && r.known[m.name] {
				listed++ // only a run of all tells whether a test sees it by now
				continue
			}
			all = append(all, one{b, m})
		}
	}
	whole := len(all)
	if seconds > 0 {
		fmt.Printf("seed %d; %d mutants of survivors.txt are left out\n", seed, listed)
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	r.start = time.Now()
	parallel(len(all), func(i int) {
		if seconds > 0 && time.Since(r.start) > time.Duration(seconds)*time.Second {
			return
		}
		killed, err := all[i].killed(all[i].mutant)
		r.note(all[i].mutant, killed, err)
	})
	return r.report(whole, seconds == 0 && files == "")
}

// result counts what became of mutants.
type result struct {
	mu            sync.Mutex
	known         map[string]bool
	start         time.Time
	verbose       bool
	tried, killed int
	survivors     []string
	unlisted      int
	dead          []string // listed, and killed
	err           error
}

func (r *result) note(m mutant, killed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
	r.tried++
	what := "survives"
	switch {
	case killed:
		r.killed++
		what = "killed"
		if r.known[m.name] {
			r.dead = append(r.dead, m.name)
		}
	case r.known[m.name]:
		r.survivors = append(r.survivors, m.name)
		what = "survives, as listed"
	default:
		r.survivors = append(r.survivors, m.name)
		r.unlisted++
		fmt.Printf("survives: line %d: %s\n", m.line, m.name)
	}
	if r.verbose {
		fmt.Printf("%s: line %d: %s\n", what, m.line, m.name)
	}
}

func (r *result) report(whole int, complete bool) error {
	if r.err != nil {
		return r.err
	}
	score := float64(r.killed) / float64(max(1, r.tried))
	fmt.Printf("%d of %d mutants tried in %.0f s: %d killed (%.1f %%), %d survive, %d of them not in survivors.txt\n",
		r.tried, whole, time.Since(r.start).Seconds(), r.killed, 100*score, len(r.survivors), r.unlisted)
	for _, name := range r.dead {
		fmt.Printf("killed, remove it from survivors.txt: %s\n", name)
	}
	switch {
	case r.tried == 0:
		return errors.New("no mutant was tried, expected some: see -files and -seconds")
	case r.unlisted > 0:
		return fmt.Errorf("%d mutants survive: test what they change, or list them in survivors.txt below a reason", r.unlisted)
	case complete && score < leastScore:
		return fmt.Errorf("%.1f %% of the mutants are killed, expected at least %.0f %%", 100*score, 100*leastScore)
	}
	return nil
}
