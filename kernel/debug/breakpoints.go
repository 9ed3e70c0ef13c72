package debug

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-dap"
)

// breakpoint is one that a client has set.
type breakpoint struct {
	dap.SourceBreakpoint
	id   int
	line int // where the source can stop
	hits int
}

// mostBreakpoints is how many breakpoints one source may have.
const mostBreakpoints = 10_000

// setBreakpoints replaces the breakpoints of a source. One on a line without a statement
// moves to the next that has one.
func (s *Session) setBreakpoints(q dap.SetBreakpointsArguments) (any, error) {
	if q.Source.Path == "" {
		return nil, fmt.Errorf("debug: setBreakpoints: the source has no path, expected that of dumpCell")
	}
	if len(q.Breakpoints) > mostBreakpoints {
		return nil, fmt.Errorf("debug: setBreakpoints: %d breakpoints, at most %d in a source", len(q.Breakpoints), mostBreakpoints)
	}
	s.mu.Lock()
	code := s.code[q.Source.Path]
	s.mu.Unlock()
	var lines []int
	for _, d := range s.debuggees {
		if lines == nil {
			lines = d.Lines(code)
		}
	}
	var list []*breakpoint
	answers := []dap.Breakpoint{}
	for i, b := range q.Breakpoints {
		set, fact := place(b, lines)
		set.id = i + 1
		answer := dap.Breakpoint{Id: i + 1, Verified: fact == "", Line: set.line, Message: fact, Source: &dap.Source{Path: q.Source.Path}}
		if fact == "" {
			list = append(list, set)
		}
		answers = append(answers, answer)
	}
	s.mu.Lock()
	if s.breaks[q.Source.Path] = list; len(list) == 0 {
		delete(s.breaks, q.Source.Path)
	}
	s.mu.Unlock()
	s.watch()
	return dap.SetBreakpointsResponseBody{Breakpoints: answers}, nil
}

// place puts a breakpoint on a line that can stop, or says why it cannot.
func place(b dap.SourceBreakpoint, lines []int) (set *breakpoint, fact string) {
	set = &breakpoint{SourceBreakpoint: b, line: b.Line}
	if _, err := hitsWanted(b.HitCondition, 1); err != nil {
		return set, err.Error()
	}
	if lines == nil {
		return set, ""
	}
	at, _ := slices.BinarySearch(lines, b.Line)
	if at == len(lines) || b.Line < 1 {
		return set, fmt.Sprintf("line %d: no statement is there or after it", b.Line)
	}
	set.line = lines[at]
	return set, ""
}

// hitsWanted reports whether a breakpoint stops at its n-th hit: at each one for an
// empty condition, at the one of a number, or by a comparison.
func hitsWanted(condition string, n int) (bool, error) {
	text := strings.TrimSpace(condition)
	if text == "" {
		return true, nil
	}
	operator := strings.TrimRight(text, "0123456789 ")
	limit, err := strconv.Atoi(strings.TrimSpace(text[len(operator):]))
	if err != nil {
		return false, fmt.Errorf("hit condition %q: expected a number, or one after ==, >, >=, <, <= or %%", condition)
	}
	switch operator {
	case "", "==":
		return n == limit, nil
	case ">":
		return n > limit, nil
	case ">=":
		return n >= limit, nil
	case "<":
		return n < limit, nil
	case "<=":
		return n <= limit, nil
	case "%":
		return limit > 0 && n%limit == 0, nil
	}
	return false, fmt.Errorf("hit condition %q: expected a number, or one after ==, >, >=, <, <= or %%", condition)
}

// hits reports whether a thread stops at the breakpoints of its line. A condition that
// cannot be evaluated stops it and says why.
func (s *Session) hits(stop *Stop) bool {
	f := stop.Frames[0]
	s.mu.Lock()
	var here []*breakpoint
	for _, b := range s.breaks[f.Path] {
		if b.line == f.Line {
			here = append(here, b)
		}
	}
	s.mu.Unlock()
	for _, b := range here {
		if s.hit(b, stop) {
			stop.hits = append(stop.hits, b.id)
			return true
		}
	}
	return false
}

func (s *Session) hit(b *breakpoint, stop *Stop) bool {
	f := stop.Frames[0]
	if strings.TrimSpace(b.Condition) != "" && f.Holds != nil {
		holds, err := f.Holds(b.Condition)
		if err != nil {
			stop.Text = fmt.Sprintf("condition %v", err)
			return true
		}
		if !holds {
			return false
		}
	} else if strings.TrimSpace(b.Condition) != "" {
		v, err := f.Evaluate(b.Condition)
		if err != nil {
			stop.Text = fmt.Sprintf("condition %s: %v", b.Condition, err)
			return true
		}
		if v.Type != "bool" {
			stop.Text = fmt.Sprintf("condition %s: it is %s, expected a boolean", b.Condition, v.Type)
			return true
		}
		if !v.True {
			return false
		}
	}
	s.mu.Lock()
	b.hits++
	wanted, _ := hitsWanted(b.HitCondition, b.hits) // checked when it was set
	s.mu.Unlock()
	if !wanted {
		return false
	}
	if b.LogMessage == "" {
		return true
	}
	s.tell("output", dap.OutputEventBody{Category: "console", Output: logged(b.LogMessage, f) + "\n", Line: f.Line, Source: &dap.Source{Path: f.Path}})
	return false
}

// logged is the text of a log point: expressions in braces are replaced by their values.
func logged(message string, f Frame) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(message, "{")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String() + "{" + rest
		}
		if v, err := f.Evaluate(expression); err != nil {
			fmt.Fprintf(&b, "(%v)", err)
		} else {
			b.WriteString(v.Value)
		}
		message = after
	}
}

// listBreakpoints is the list of debugInfo. The caller holds mu.
func (s *Session) listBreakpoints() []sourceInfo {
	list := []sourceInfo{}
	for path, points := range s.breaks {
		info := sourceInfo{Source: path}
		for _, b := range points {
			at := b.SourceBreakpoint
			at.Line = b.line
			info.Breakpoints = append(info.Breakpoints, at)
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b sourceInfo) int { return strings.Compare(a.Source, b.Source) })
	return list
}

// The filters of exception breakpoints.
const (
	allPanics      = "all"
	uncaughtPanics = "uncaught"
	faults         = "faults"
	nans           = "nans"
)

var filters = []dap.ExceptionBreakpointsFilter{
	{Filter: allPanics, Label: "All panics", Description: "Stop at each panic, before deferred calls run."},
	{Filter: uncaughtPanics, Label: "Uncaught panics", Default: true, Description: "Stop at panics that no deferred call recovers."},
	{Filter: faults, Label: "Faults of kernels", Description: "Stop where a lane of a kernel faults."},
	{Filter: nans, Label: "NaN made by a kernel", Description: "Stop where a lane makes a NaN."},
}

func (s *Session) setExceptions(q dap.SetExceptionBreakpointsArguments) (any, error) {
	set := map[string]bool{}
	for _, f := range q.Filters {
		if !slices.ContainsFunc(filters, func(known dap.ExceptionBreakpointsFilter) bool { return known.Filter == f }) {
			return nil, fmt.Errorf("debug: setExceptionBreakpoints: filter %q: expected %q, %q, %q or %q", f, allPanics, uncaughtPanics, faults, nans)
		}
		set[f] = true
	}
	s.mu.Lock()
	s.exceptions = set
	s.mu.Unlock()
	s.watch()
	return struct{}{}, nil
}

// Compiled moves the breakpoints of a source to the lines that have code, now that they
// are known, and tells clients of those that move.
func (s *Session) Compiled(path string, lines []int) {
	var moved []dap.Breakpoint
	s.mu.Lock()
	for i, b := range s.breaks[path] {
		if at, _ := slices.BinarySearch(lines, b.line); at < len(lines) && lines[at] != b.line {
			b.line = lines[at]
			moved = append(moved, dap.Breakpoint{Id: i + 1, Verified: true, Line: b.line, Source: &dap.Source{Path: path}})
		}
	}
	s.mu.Unlock()
	for _, b := range moved {
		s.tell("breakpoint", dap.BreakpointEventBody{Reason: "changed", Breakpoint: b})
	}
	if moved != nil {
		s.watch()
	}
}
