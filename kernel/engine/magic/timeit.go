package magic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	repeats     = 50
	minRepeats  = 5
	repeatTime  = 5 * time.Millisecond // the least time of one repeat
	timeitLimit = 2 * time.Second      // the most time of all repeats
)

var timeit = &Magic{
	Name: "timeit", Line: true, Cell: true, Args: "CODE",
	Short: "Run Go code many times and print the median of the times, with its interval.",
	Long: `The interval is that in which the median lies with 95 % confidence, found from
the order of the repeats alone. Cells are interpreted: a loop takes some hundred
times longer than compiled, a call into a compiled package does not. One run of
the loop's own costs about a tenth of a microsecond. What the code declares is
not kept.`,
	Flags: []Flag{
		{Name: "n", Value: "RUNS", Help: "runs in a repeat (chosen so that one takes 5 ms)"},
		{Name: "r", Value: "REPEATS", Help: "repeats (50, fewer when the code is slow)"},
	},
	Loop: func(c *Call) (func() (int, error), error) {
		n, err := c.count("n")
		if err != nil {
			return nil, err
		}
		r, err := c.count("r")
		t := &timing{call: c, given: n, repeats: r}
		return t.next, err
	},
}

// timing is a measurement. Its first repeats warm up and determine the number of runs
// per repeat.
type timing struct {
	call    *Call
	given   int // runs in a repeat, 0 if they are determined by calibration
	repeats int // 0 until they are known
	runs    int
	times   []time.Duration
	ready   bool
	start   time.Time
}

// next is called before each repeat and after the last. It returns the number of runs of
// the next repeat.
func (t *timing) next() (runs int, err error) {
	took := time.Since(t.start)
	switch {
	case t.runs == 0:
		t.runs = max(t.given, 1)
	case t.ready:
		t.times = append(t.times, took)
	default:
		t.calibrate(took)
	}
	if t.ready && len(t.times) == t.repeats {
		_, err := fmt.Fprintln(t.call.Out, statistics(t.times, t.runs))
		return 0, err
	}
	t.start = time.Now()
	return t.runs, nil
}

// calibrate adjusts the number of runs to the time of a repeat.
func (t *timing) calibrate(took time.Duration) {
	switch {
	case t.given > 0 || took >= repeatTime:
	case took < repeatTime/10:
		t.runs *= 10
		return
	default:
		f := int(repeatTime/took) + 1
		t.runs, took = t.runs*f, took*time.Duration(f)
	}
	t.ready = true
	if t.repeats == 0 {
		t.repeats = min(repeats, max(minRepeats, int(timeitLimit/max(took, 1))))
	}
}

// count is the value of an integer flag, 0 if it is not given.
func (c *Call) count(flag string) (int, error) {
	text, ok := c.Flags[flag]
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, c.Errorf(c.flagAt[flag], "-%s %s: expected a number from 1", flag, text)
	}
	return n, nil
}

// statistics describes the times of repeats of n runs each.
func statistics(times []time.Duration, n int) string {
	slices.Sort(times)
	r := len(times)
	each := func(d time.Duration) string { return readableFloat(float64(d) / float64(n)) }
	median := (times[(r-1)/2] + times[r/2]) / 2
	lo, hi := interval(r)
	name := "95 % interval"
	if lo < 0 { // too few values for an interval
		lo, hi, name = 0, r-1, "all"
	}
	return fmt.Sprintf("median %s, %s %s to %s, %d repeats of %d runs, interpreted Go",
		each(median), name, each(times[lo]), each(times[hi]), r, n)
}

// interval are the places, in r sorted values, between which the median lies
// with 95 % confidence: fewer than lo+1 of r values fall below it by a chance
// of at most 2.5 %. lo is -1 where there are too few values.
func interval(r int) (lo, hi int) {
	all, _ := math.Lgamma(float64(r + 1))
	for below := 0.0; ; lo++ {
		a, _ := math.Lgamma(float64(lo + 1))
		b, _ := math.Lgamma(float64(r - lo + 1))
		if below += math.Exp(all - a - b - float64(r)*math.Ln2); below > 0.025 {
			return lo - 1, r - lo
		}
	}
}

// readableFloat is readable for times below a nanosecond too.
func readableFloat(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.3g ns", ns)
	}
	return readable(time.Duration(ns))
}
