package peers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"warpbook/gpu"
)

// Session is an operator's peers that wait for their turn, so that ours and
// theirs are timed one after the other, again and again, in one state of the GPU.
// It is for one goroutine at a time.
type Session struct {
	Notes   []string // the peers that were not run, and why
	waiting []*waiting
	ctx     context.Context
	done    func()
}

// waiting is a peer that times once for each line that it reads, and ends that
// with an empty line.
type waiting struct {
	file    string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	log     bytes.Buffer
}

// None is a session without peers, and why.
func None(why ...string) *Session {
	return &Session{Notes: why, ctx: context.Background(), done: func() {}}
}

// Start starts the peers of a set. Each size has so many turns, all of one
// before the next. Close ends the remaining peers.
func Start(ctx context.Context, set Set, sizes [][]int, turns int, o Options) (*Session, error) {
	s := &Session{}
	s.ctx, s.done = begin(ctx)
	for _, file := range set.Programs {
		if strings.HasSuffix(file, "_tried.py") && len(o.Only) == 0 {
			continue
		}
		w, err := start(s.ctx, set, file, sizes, turns, o)
		if s.ctx.Err() != nil {
			defer s.Close()
			return nil, s.stopped(file)
		}
		if err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %v", file, err))
			continue
		}
		s.waiting = append(s.waiting, w)
	}
	return s, nil
}

func start(ctx context.Context, set Set, file string, sizes [][]int, turns int, o Options) (*waiting, error) {
	command, err := set.prepare(ctx, file)
	if err != nil {
		return nil, err
	}
	command = append(command, arguments(set.Operator, sizes, turns, o)...)
	w := &waiting{file: file, command: exec.CommandContext(ctx, command[0], command[1:]...)}
	w.command.Env, w.command.WaitDelay, w.command.Stderr = environment(o.GPU), time.Second, &w.log
	if w.in, err = w.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewScanner(out)
	return w, w.command.Start()
}

// Run runs the peers of an operator once at each size. The notes name the peers that
// cannot run or end with an error.
func Run(ctx context.Context, set Set, sizes [][]int, o Options) (figures []Figure, notes []string, err error) {
	s, err := Start(ctx, set, sizes, 1, o)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	for range sizes {
		found, err := s.Turn()
		if err != nil {
			return nil, nil, err
		}
		figures = append(figures, found...)
	}
	return figures, s.Notes, nil
}

// Turn lets each peer time the current size. Notes name a peer that ends too early.
// The error wraps gpu.ErrInterrupted, or is the error of the context.
func (s *Session) Turn() (figures []Figure, err error) {
	for i := 0; i < len(s.waiting); i++ {
		w := s.waiting[i]
		found, err := w.turn()
		if s.ctx.Err() != nil {
			return nil, s.stopped(w.file)
		}
		figures = append(figures, found...)
		if err != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %v", w.file, err))
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			i--
		}
	}
	return figures, nil
}

func (s *Session) stopped(file string) error {
	return fmt.Errorf("peers: %s: %w", file, context.Cause(s.ctx))
}

// turn asks for the figures of a turn; the error is that of a peer which ended.
func (w *waiting) turn() ([]Figure, error) {
	late := time.AfterFunc(patience, func() { w.command.Process.Kill() })
	defer late.Stop()
	io.WriteString(w.in, "\n") // if the peer has ended, the write fails and the loop reads no line
	var lines bytes.Buffer
	for w.out.Scan() {
		if len(w.out.Bytes()) == 0 {
			return parse(lines.Bytes())
		}
		lines.Write(append(w.out.Bytes(), '\n'))
	}
	figures, err := parse(lines.Bytes())
	if err == nil {
		err = fmt.Errorf("%w: it ended in its turn", gpu.ErrClosed)
	}
	if ended := withLast(w.command.Wait(), w.log.String()); ended != nil {
		err = ended
	}
	return figures, err
}

// Close ends the peers: they read the end of their input.
func (s *Session) Close() {
	for _, w := range s.waiting {
		w.in.Close()
		w.command.Wait() // its figures were read before: an error here changes none
	}
	s.waiting = nil
	s.done()
}

// withLast is an error with the last line that a command wrote.
func withLast(err error, log string) error {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; err != nil && last != "" {
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}
