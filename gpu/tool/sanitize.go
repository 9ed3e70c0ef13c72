package tool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"warpbook/gpu"
	"warpbook/kernel/leaf/lazyregexp"
)

// Checks are the tools of the sanitizer.
var Checks = []string{"memcheck", "racecheck", "initcheck", "synccheck"}

// sanitizer is compute-sanitizer.
type sanitizer struct{ check string }

// Sanitize starts the sanitizer on the open devices, with one of Checks.
func Sanitize(check string) (*Run, error) {
	if !slices.Contains(Checks, check) {
		return nil, fmt.Errorf("tool: sanitize %s: %w, expected one of %s", check, gpu.ErrArgument, strings.Join(Checks, ", "))
	}
	return start(&sanitizer{check})
}

func (s *sanitizer) name() string { return "compute-sanitizer" }

func (s *sanitizer) command(report string) ([]string, error) {
	path, err := find("compute-sanitizer", "compute-sanitizer")
	if err != nil {
		return nil, err
	}
	return []string{path, "--tool", s.check, "--log-file", report, "--print-limit", "1000",
		"--check-api-memory-access", "no"}, nil // the copies are the worker's own
}

// prepare sets the emulator's checks: those of the tool and of a plain launch, or
// all checks if there is no GPU.
func (s *sanitizer) prepare(l *gpu.Launch, alone bool) {
	switch {
	case alone:
		l.Checks = gpu.CheckAll | gpu.CheckBlockRaces
	case s.check == "racecheck":
		l.Checks = gpu.CheckAll | gpu.CheckBlockRaces
	default:
		l.Checks = gpu.CheckDefault
	}
}

// every: a later launch of a shape may have other data.
func (s *sanitizer) every() bool { return true }

// alone: only the tool knows which memory is unwritten on a GPU.
func (s *sanitizer) alone() string {
	if s.check != "initcheck" {
		return ""
	}
	return "not emulated: which memory of a GPU was never written, the tool alone knows; what moved into its worker counts as written"
}

// finding is one complaint of the sanitizer, and how often it has it.
type finding struct {
	what, at, by, detail string
	times                int
}

var (
	frameLine = lazyregexp.New(`^at (.+?)(?:\(.*?\))?(\+0x[0-9a-f]+)?(?: in (.+))?$`)
	raceLine  = lazyregexp.New(`^(?:(\w+): Race reported between|and) (\w+) access at ([^+]+)(?:\+0x[0-9a-f]+)?(?: in (\S+))?(?: \[(\d+) hazards?\])?$`)
	aside     = lazyregexp.New(`^(COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY|Saved host|Host Frame|\[0x|Device Frame|Target application|Internal|No attachable|Program hit|Error: process|The application)`)
)

// readFindings reads the sanitizer's report: lines that begin with =========,
// a finding and below it, indented, the place and the thread.
func readFindings(text string) (found []finding) {
	var now *finding
	flush := func() {
		if now == nil {
			return
		}
		for i := range found {
			if found[i].what == now.what && found[i].at == now.at {
				found[i].times++
				now = nil
				return
			}
		}
		found, now = append(found, *now), nil
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "=========")
		if !ok {
			continue
		}
		body := strings.TrimSpace(rest)
		indented := strings.HasPrefix(rest, "     ") // more than the blank after the bar
		switch {
		case body == "" || !indented && aside().MatchString(body):
			flush()
		case !indented:
			flush()
			now = &finding{what: body, times: 1}
			now.race(body)
		case now != nil:
			now.add(body)
		}
	}
	flush()
	return found
}

// add puts a line of a complaint where it belongs.
func (f *finding) add(line string) {
	switch {
	case aside().MatchString(line), f.race(line):
	case strings.HasPrefix(line, "at ") && f.at == "":
		f.at = strings.TrimPrefix(line, "at ")
		if m := frameLine().FindStringSubmatch(line); m != nil {
			f.at = m[1] + m[2]
			if m[3] != "" {
				f.at = m[1] + " " + m[3]
			}
		}
	case strings.HasPrefix(line, "by thread") && f.by == "":
		f.by = strings.TrimPrefix(line, "by ")
	default:
		f.detail = join(f.detail, line)
	}
}

// race reads a line about an access that races.
func (f *finding) race(line string) bool {
	m := raceLine().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if m[1] != "" {
		f.what = "race (" + strings.ToLower(m[1]) + ")"
	}
	f.at = join(f.at, m[2]+" at "+strings.TrimSpace(m[3]+" "+m[4]))
	if m[5] != "" {
		f.detail = join(f.detail, m[5]+" hazards")
	}
	return true
}

func join(list, next string) string {
	if list == "" {
		return next
	}
	return list + "; " + next
}

// tables are the findings of the sanitizer and of the emulator.
func (s *sanitizer) tables(w *watched, report string) ([]Table, error) {
	t := Table{title: fmt.Sprintf("%s: %s", s.check, w.device.Info().Name), columns: []string{"found by", "what", "where", "thread", "more"}}
	if report == "" {
		t.notes = []string{"no GPU: compute-sanitizer did not run; the emulator checked every launch for all that it can find: " + strings.Join(emulatorChecks, "; ")}
	} else {
		if s.check == "synccheck" {
			t.notes = []string{"the tool also reports barriers that some threads of a warp pass by on their way to the end; " +
				"in PTX these are threads that have exited, for which no barrier waits"}
		}
		text, err := os.ReadFile(report)
		if err != nil {
			return nil, fmt.Errorf("tool: compute-sanitizer: %w", err)
		}
		for _, f := range readFindings(string(text)) {
			if f.times > 1 {
				f.what += fmt.Sprintf(" (%d times)", f.times)
			}
			w.found++
			t.rows = append(t.rows, []string{"compute-sanitizer", f.what, f.at, f.by, f.detail})
		}
		if len(t.rows) == 0 {
			t.rows = append(t.rows, []string{"compute-sanitizer", "no error", "-", "-", "-"})
		}
	}
	for _, x := range w.launches {
		t.rows = append(t.rows, x.findings(&w.found)...)
	}
	return []Table{t}, nil
}

// findings are the rows of what the emulator has found in a launch; found counts
// them.
func (x *launch) findings(found *int) (rows [][]string) {
	where := strings.Replace(x.String(), fmt.Sprintf(", first of %d", x.times), fmt.Sprintf(", %d launches", x.times), 1)
	row := func(what string, err error, more string) {
		rows = append(rows, []string{"emulator", what, where, threadOf(err), cmp.Or(more, "-")})
	}
	for _, f := range x.warnings {
		if f.Kind != gpu.ErrSameValue {
			*found++
		}
		row(f.Severity()+": "+f.Error(), f, "")
	}
	for _, f := range x.faults {
		*found++
		more := f.line
		if f.at > 1 {
			more = strings.TrimSuffix(join(fmt.Sprintf("launch %d", f.at), more), "; ")
		}
		row(f.err.Error(), f.err, more)
	}
	switch {
	case x.note != "":
		row(x.note, nil, "")
	case len(rows) == 0:
		row("no error", nil, "")
	}
	return rows
}

// threadOf is the block and the thread of a fault, as far as they are known.
func threadOf(err error) string {
	var f *gpu.Fault
	switch errors.As(err, &f); {
	case f == nil || f.Block == nil:
		return "-"
	case f.Thread == nil:
		return fmt.Sprintf("block %v", *f.Block)
	}
	return fmt.Sprintf("thread %v in block %v", *f.Thread, *f.Block)
}

// emulatorChecks are the checks of the emulator without a GPU.
var emulatorChecks = []string{"bounds, alignment, address space and use after free", "races in shared and global memory",
	"reads of memory that nothing wrote", "barriers and masks that not all threads reach", "divisions by zero"}
