//go:build linux

package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"warpbook/gpu"
	"warpbook/gpu/emu"
	"warpbook/gpu/program/wire"
)

// Streams are the standard streams of a run. A file is given to the program itself, so that
// output is not buffered.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // the program stays in the group of a terminal's foreground

	// Ask, if not nil, returns a line each time that the program waits for standard input, in
	// place of In. It is called on another goroutine. After an error the input has ended.
	Ask func() (string, error)
}

// guarded gives writers that are no files a lock: the program's output and the lines of the
// device come from two goroutines.
func (s Streams) guarded() Streams {
	lock := &sync.Mutex{}
	guard := func(w io.Writer) io.Writer {
		if _, file := w.(*os.File); file || w == nil {
			return w
		}
		return &guardedWriter{lock, w}
	}
	out := guard(s.Out)
	if same(s.Err, s.Out) {
		s.Out, s.Err = out, out
		return s
	}
	s.Out, s.Err = out, guard(s.Err)
	return s
}

// same reports whether two writers are one, as package exec does.
func same(a, b io.Writer) bool {
	defer func() { recover() }() // of types that cannot be compared
	return a == b
}

type guardedWriter struct {
	lock *sync.Mutex
	to   io.Writer // guarded by lock
}

func (g *guardedWriter) Write(p []byte) (int, error) {
	g.lock.Lock()
	defer g.lock.Unlock()
	return g.to.Write(p)
}

const (
	killGrace  = 50 * time.Millisecond // how long an interrupted program has to end itself
	readGrace  = 10 * time.Second      // how long the readers of an ended program's output have
	interrupts = 10 * time.Millisecond // between two interrupts of the device
)

// Run runs the program to its end. The end of ctx ends the program. Another status than 0
// is an *ExitError.
func (p *Program) Run(ctx context.Context, set Settings, io Streams) error {
	io = io.guarded()
	if p.nvidia {
		return p.runNVIDIA(ctx, set, io)
	}
	dev, err := emu.Open(set.GPU)
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	if set.Sequential {
		dev.(*emu.Device).LimitWorkers(1)
	}
	channel, err := wire.Open()
	if err != nil {
		dev.Close()
		return fmt.Errorf("program: %w", err)
	}
	defer channel.Close() // after the device, which uses its memory
	defer dev.Close()
	r := &reporter{out: io.Err, program: p, said: map[string]bool{}}
	alive, ended := context.WithCancel(ctx)
	defer ended()
	s := &server{alive: alive, dev: dev.(*emu.Device), channel: channel, program: p, report: r, checked: set.Sanitize, counts: counting{set.Kernels, set.Profiles}, modules: make([]gpu.Module, len(p.parts.Units)), events: map[uint64]time.Time{}, objects: map[uint64]gpu.Object{}, memory: memory{shared: map[uint64]gpu.Buffer{}}}
	s.streams = newStreams(s.dev)
	s.dev.SetOutput(&s.printed)
	s.dev.SetWarnings(func(f *gpu.Fault) { r.warnCall(s.here, f) })
	s.dev.GoOn(!set.Strict)
	s.dev.HostWrites(s.hostWrites)
	files, variable := channel.Files(3)
	process, err := p.launch(set.Args, io, files, []string{variable})
	if err != nil {
		return err
	}
	channel.Started()
	r.pid = process.command.Process.Pid
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		process.watch(ctx)
		ended()
		channel.Hangup() // a child of the program may hold the other end
	}()
	if set.Strict {
		r.stop = func() { process.kill(syscall.SIGKILL) }
	}
	stop := interruptAfter(alive, dev)
	broken := s.serve()
	stop()
	if broken != nil || r.stopped {
		process.kill(syscall.SIGKILL)
	}
	<-watched
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if broken != nil {
		return fmt.Errorf("program: %s: %w", p.Name, broken)
	}
	if r.stopped {
		return &ExitError{Name: p.Name, Status: 1}
	}
	r.ending(s, process.err == nil)
	return p.result(process.err, channel, r)
}

// interruptAfter interrupts a device from the end of ctx until stop is called: again and
// again, because an interrupt between two launches ends nothing.
func interruptAfter(ctx context.Context, dev gpu.Device) (stop func()) {
	stopped, returned := make(chan struct{}), make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(returned)
		again := time.NewTicker(interrupts)
		defer again.Stop()
		for {
			dev.Interrupt()
			select {
			case <-again.C:
			case <-stopped:
				return
			}
		}
	})
	return func() {
		close(stopped)
		if !cancel() {
			<-returned
		}
	}
}

// process is a program that runs.
type process struct {
	command *exec.Cmd
	group   bool
	ended   chan struct{}
	err     error // of Wait, once ended is closed

	lock sync.Mutex
	gone bool // the system may give its number to another process; guarded by lock
}

// launch starts the program with further files and variables, and the goroutine that asks for
// its input.
func (p *Program) launch(args []string, io Streams, files []*os.File, variables []string) (*process, error) {
	var lines *input
	if io.Ask != nil {
		var err error
		if lines, err = newInput(io.Ask); err != nil {
			return nil, err
		}
		io.In = lines.from
	}
	process, err := p.start(args, io, files, variables)
	if lines != nil {
		lines.from.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("program: %s: %w", p.Name, err)
	}
	if lines != nil {
		go lines.serve(process.command.Process.Pid, process.ended)
	}
	return process, nil
}

// start starts the program.
func (p *Program) start(args []string, io Streams, files []*os.File, variables []string) (*process, error) {
	c := exec.Command(p.path, args...)
	c.Stdin, c.Stdout, c.Stderr = io.In, io.Out, io.Err
	c.WaitDelay = readGrace
	c.ExtraFiles, c.Env = files, append(os.Environ(), variables...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !io.Terminal, Pdeathsig: syscall.SIGKILL}
	run := &process{command: c, group: !io.Terminal, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is about the thread that starts the process
		err := c.Start()
		started <- err
		if err == nil {
			run.wait()
		}
		runtime.UnlockOSThread()
	}()
	return run, <-started
}

// wait waits for the end of the program and of its output. What the program left in the
// background ends with it, and so holds the output no longer.
func (p *process) wait() {
	defer close(p.ended)
	for unix.Waitid(unix.P_PID, p.command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	if p.group {
		p.kill(syscall.SIGKILL)
	}
	p.lock.Lock()
	p.gone = true
	p.lock.Unlock()
	p.err = p.command.Wait()
}

// kill sends a signal to the program, and to what it started.
func (p *process) kill(signal syscall.Signal) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.gone {
		return
	}
	pid := p.command.Process.Pid
	if p.group {
		pid = -pid
	}
	syscall.Kill(pid, signal) // it may have ended
}

// watch waits for the end of the program, or ends it with ctx.
func (p *process) watch(ctx context.Context) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.kill(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-time.After(killGrace):
		}
		p.kill(syscall.SIGKILL)
		<-p.ended
	}
}

// result is the error of a program that has ended; channel is nil if it ran on a GPU.
func (p *Program) result(err error, channel *wire.Channel, r *reporter) error {
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrWaitDelay): // a daemon, or a reader that has stopped
		r.say("advice: the output of the program was still open %v after its end: the rest of it is lost", readGrace)
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("program: %s: %w", p.Name, err)
	}
	state := exit.Sys().(syscall.WaitStatus)
	if !state.Signaled() {
		return &ExitError{Name: p.Name, Status: state.ExitStatus()}
	}
	if channel != nil { // of our library
		if crash, ok := channel.Crash(r.pid); ok {
			r.crash(crash)
		}
	}
	return &ExitError{Name: p.Name, Status: 128 + int(state.Signal()), Signal: unix.SignalName(state.Signal())}
}
