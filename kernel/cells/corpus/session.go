package corpus

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

// maxOutput is how much of a cell's output is kept.
const maxOutput = 1 << 20

// Session is a cells program that runs the cells of programs. One goroutine at a time
// may use it.
type Session struct {
	client *cellproc.Client
	limit  time.Duration
	cells  int

	mu                    sync.Mutex // guards the builders: output comes on goroutines of the client
	stdout, output, shown strings.Builder
}

// RareCollections is for the environment of a cells program that runs many programs: at the
// default, collections are a fifth of its processor time, because their types stay.
const RareCollections = "GOGC=400"

// timeZone is the place of the tests of package time.
const timeZone = "TZ=America/Los_Angeles"

// Start starts a session in a folder, and at the place of the tests of package time. Each
// of its cells may run for the limit.
func Start(program, dir string, limit time.Duration) (s *Session, err error) {
	root, err := goRoot()
	if err != nil {
		return nil, err
	}
	s = &Session{limit: limit}
	s.client, err = cellproc.Start(cellproc.Config{Program: program, Dir: dir, Env: append(os.Environ(), timeZone, "GOROOT="+root, RareCollections),
		Late: func(_ int, e cellproto.Event) { s.add(e) }})
	return s, err
}

// Close ends the session.
func (s *Session) Close() { s.client.Close() }

// add notes output of a cell, or of a goroutine that outlives its cell.
func (s *Session) add(e cellproto.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := e.Data["text/plain"].(string); ok && e.Type == cellproto.Display && !e.Update {
		s.shown.WriteString("\x01" + text + "\x01")
	}
	if e.Type != cellproto.Stream || s.output.Len() > maxOutput {
		return
	}
	if e.Name == "stdout" {
		s.stdout.WriteString(e.Text)
		s.shown.WriteString(e.Text)
	}
	if !strings.HasPrefix(e.Text, "warning: ") {
		s.output.WriteString(e.Text)
	}
}

// reused is a session that runs one program after another, each without the names of those
// before it. One goroutine at a time may use it.
type reused struct {
	program string
	limit   time.Duration
	session *Session // nil before the first program
	dir     string   // of the program before
	clean   bool     // no program has run in it
}

// try runs a program in the session, in a folder. A program that fails where others have run
// gets a new session: they may have left goroutines, or changed the process.
func (r *reused) try(dir string, run func(*Session) string) (failure string) {
	for {
		if r.session == nil {
			s, err := Start(r.program, dir, r.limit)
			if err != nil {
				return err.Error()
			}
			r.session, r.clean = s, true
		} else if dir != r.dir {
			r.session.Run("%cd " + dir)
		}
		r.dir = dir
		alone := r.clean
		r.clean = false
		if failure = run(r.session); failure == "" {
			failure = r.session.reset()
		}
		if failure == "" {
			return ""
		}
		r.close()
		if alone {
			return failure
		}
	}
}

func (r *reused) close() {
	if r.session != nil {
		r.session.Close()
		r.session = nil
	}
}

// sharing is how many programs run in one session at most, each after %reset: to start a
// session takes longer than to run most of them.
const sharing = 96

// inGroups are neighbours that run in one session, at least a group for each job.
func inGroups[T any](items []T, jobs int) [][]T {
	each := (len(items) + atOnce(jobs) - 1) / atOnce(jobs)
	return slices.Collect(slices.Chunk(items, max(1, min(each, sharing))))
}

// reset removes the names of a program, and ends the goroutines that it has left: one that
// goes round in a loop took half of a session's processor time.
func (s *Session) reset() (failure string) {
	failure = s.Run("%reset").Failure
	s.client.Interrupt()
	return failure
}

// Answer is the answer to a cell.
type Answer struct {
	Stdout  string
	Output  string // of both streams without warnings
	Shown   string // stdout and what is displayed, each display and the value between two \x01
	Failure string // the first line of the error, "" if the cell ended well or called os.Exit(0)
}

// killGrace is how long a cell may take to end after an interrupt.
const killGrace = 10 * time.Second

// Run runs a cell. The output is all that came since the cell before. A cell that takes
// longer than the limit is interrupted, and fails.
func (s *Session) Run(code string) Answer {
	s.cells++
	s.mu.Lock()
	s.stdout.Reset() // of what came after a cell that was given up
	s.output.Reset()
	s.shown.Reset()
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	timer := time.AfterFunc(s.limit+killGrace, s.client.Kill)
	done, err := s.client.Execute(ctx, code, s.cells, s.add)
	timer.Stop()
	if ctx.Err() != nil {
		return Answer{Failure: fmt.Sprintf("%s %v", Longer, s.limit)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := done.Data["text/plain"].(string); ok {
		s.shown.WriteString("\x01" + text + "\x01")
	}
	a := Answer{Stdout: s.stdout.String(), Output: s.output.String(), Shown: s.shown.String()}
	switch {
	case err != nil:
		a.Failure = firstLine(err.Error())
	case done.Error != nil && done.Error.Value != "the cell called os.Exit(0); the session goes on":
		a.Failure = firstLine(done.Error.Name + ": " + done.Error.Value)
	}
	return a
}

// Longer begins the failure of a cell that takes longer than the session's limit.
const Longer = "runs longer than"

// RunAll runs cells until one fails, which the failure names if there are several, and
// returns what they print: to both streams without warnings, and to stdout alone.
func RunAll(s *Session, cells []string) (failure, output, stdout string) {
	var both, out strings.Builder
	for _, code := range cells {
		a := s.Run(code)
		if a.Failure != "" && len(cells) > 1 {
			return fmt.Sprintf("%s\n%.200s", a.Failure, code), "", ""
		} else if a.Failure != "" {
			return a.Failure, "", ""
		}
		both.WriteString(a.Output)
		out.WriteString(a.Stdout)
	}
	return "", both.String(), out.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
