package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/ops/ladder"
)

// Steps is a ladder in one table: of each rung its change, its time in a committed run, the
// share of a limit's rate that it reaches, and how much faster it is than the rung before and
// than the first; beside it the time of the reader's own run.
type Steps struct {
	rungs []ladder.Variant
	run   *Measured
	times MeasuredTimes
	limit string
	own   *Latencies // nil for none
}

// NewSteps makes the table of an operator's rungs at a size of a run. The limit is a row of
// the run, such as a kernel that only reads or the fastest library. A rung or a limit that
// the run has not is an error.
func NewSteps(o *ladder.Operator, run *Measured, size ladder.Size, limit string, rungs ...string) (*Steps, error) {
	i := slices.IndexFunc(run.Times, func(t MeasuredTimes) bool { return slices.Equal(t.Size, size) })
	if i < 0 {
		return nil, fmt.Errorf("ops: %s: size %v: %w, expected one of its %d sizes", run.Name, size, gpu.ErrNotFound, len(run.Times))
	}
	s := &Steps{run: run, times: run.Times[i], limit: limit}
	for _, name := range append([]string{limit}, rungs...) {
		if math.IsNaN(s.times.Rate(name)) {
			return nil, fmt.Errorf("ops: %s at %v: %w, %s", run.Name, size, gpu.ErrNotFound, gpu.Nearest(name, run.Names()))
		}
	}
	for _, name := range rungs {
		v, err := o.Variant(name)
		if err != nil {
			return nil, err
		}
		s.rungs = append(s.rungs, v)
	}
	return s, nil
}

// With is the table with the times of the reader's own run.
func (s *Steps) With(own *Latencies) *Steps {
	with := *s
	with.own = own
	return &with
}

// Title names the size and the GPU.
func (s *Steps) Title() string {
	return fmt.Sprintf("the ladder at %v on an %s", s.times.Heading(), s.run.GPU())
}

// Table has a row for each rung.
func (s *Steps) Table() (columns []string, rows [][]string) {
	columns = []string{"rung", "change", "time (us)", "of " + s.limit, "step", "in all"}
	if s.own != nil {
		columns = append(columns, "here (us)")
	}
	first := math.NaN()
	before := first
	for _, v := range s.rungs {
		rate := s.times.Rate(v.Name)
		if math.IsNaN(first) {
			first = rate
		}
		row := []string{v.Name, v.Adds, shortTime(s.us(v.Name)),
			fmt.Sprintf("%.3g %%", 100*rate/s.times.Rate(s.limit)), speedRatio(rate / before), speedRatio(rate / first)}
		if s.own != nil {
			row = append(row, s.ownTime(v.Name))
		}
		rows, before = append(rows, row), rate
	}
	return columns, rows
}

func (s *Steps) ownTime(rung string) string {
	if us := s.ownUS(rung); us > 0 {
		return shortTime(us)
	}
	return "-"
}

// ownUS is the time of a rung in the reader's own run, NaN for none.
func (s *Steps) ownUS(rung string) float64 {
	i := slices.Index(s.own.Names(), rung)
	if i < 0 {
		return math.NaN()
	}
	return s.own.Medians()[i] / 1e3
}

// us is the time of a rung in the committed run, NaN for none.
func (s *Steps) us(rung string) float64 {
	if us, ok := s.times.US[rung]; ok {
		return us
	}
	return s.times.amount() / s.times.Rate(rung) / 1e6
}

// heading names a row of times of the committed run.
func (s *Steps) heading() string {
	return fmt.Sprintf("time on an %s at %v (us)", strings.TrimPrefix(s.run.GPU(), "NVIDIA "), s.times.Heading())
}

func (s *Steps) measured() string {
	return fmt.Sprintf("times: the committed run of %s, as in the table of the ladder", s.run.Date)
}

// shortTime is a time in four digits, or as whole microseconds.
func shortTime(us float64) string {
	if us >= 1000 {
		return ladder.Grouped(math.Round(us))
	}
	return fmt.Sprintf("%.4g", us)
}

// Notes say what the ratios are, and how the run was made.
func (s *Steps) Notes() []string {
	return []string{
		"step: how many times as fast as the rung above; in all: how many times as fast as the first rung; of " + s.limit + ": the share of its rate that the rung reaches",
		fmt.Sprintf("measured: %s, %s; %s", s.run.Device, s.run.Date, s.run.Method),
	}
}
