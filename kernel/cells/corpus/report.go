package corpus

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
)

// Outcome is how a program ended: Failure is "" if it passed.
type Outcome struct{ Name, Failure string }

// atOnce is how many programs run at once for a number of jobs. The default is one for each
// core and another one, because some programs sleep.
func atOnce(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0) + 1
	}
	return jobs
}

// Each calls try for each item on some goroutines, and returns what it returned in the
// order of the items.
func Each[T, R any](items []T, jobs int, try func(T) R) []R {
	results := make([]R, len(items))
	next := make(chan int)
	var wg sync.WaitGroup
	for range atOnce(jobs) {
		wg.Go(func() {
			for i := range next {
				results[i] = try(items[i])
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

// Reasons reads a list of programs that do not pass: a line with a reason, and below it
// the programs, each indented by a tab.
func Reasons(text string) map[string]string {
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

// Report prints how many programs pass, and each that does not with its reason. A
// failure without a reason is an error. A passing program with a reason is named.
func Report(w io.Writer, title string, outcomes []Outcome, reasons map[string]string, verbose bool) error {
	passed, unknown := 0, 0
	var better []string
	for _, o := range outcomes {
		reason, left := reasons[o.Name]
		switch {
		case o.Failure == "":
			if passed++; left {
				better = append(better, o.Name)
			}
			continue
		case !left:
			unknown++
			reason = "no reason is listed"
		}
		fmt.Fprintf(w, "%s: %s\n", o.Name, reason)
		if verbose || !left {
			fmt.Fprintf(w, "    %s\n", o.Failure)
		}
	}
	fmt.Fprintf(w, "%s: %d of %d pass\n", title, passed, len(outcomes))
	if len(better) > 0 {
		fmt.Fprintf(w, "%s: %d pass and have a reason why not: %s\n", title, len(better), strings.Join(better, " "))
	}
	if unknown > 0 {
		return fmt.Errorf("%s: %d programs fail without a listed reason", title, unknown)
	}
	return nil
}
