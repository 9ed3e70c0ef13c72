package cuda

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"warpbook/gpu/cuda/command"
	"warpbook/kernel/leaf/buildcache"
)

// backlog limits the queued commands that are not written yet; a caller that
// exceeds it waits, as it would for a full queue of the GPU.
const backlog = 1 << 20

// link is one worker: a process with a CUDA context. Its buffers, modules and
// streams are lost when it ends.
type link struct {
	hello    command.Hello
	patience time.Duration // how long it may take to end by itself
	process  *exec.Cmd
	commands *os.File
	life     *os.File // the worker ends when this closes
	output   *tail
	done     chan struct{} // closed when the process was reaped

	mu      sync.Mutex
	space   sync.Cond       // of mu: queue is shorter, or ended is set
	queue   []byte          // commands not written; guarded by mu
	spare   []byte          // memory for the next queue; guarded by mu
	writing bool            // a goroutine writes to commands; guarded by mu
	waiting []waiter        // callers, in the order of their commands; guarded by mu
	number  uint32          // of the last command with an answer; guarded by mu
	posted  uint64          // commands without an answer; guarded by mu
	reached uint64          // of them, those before the last answer; guarded by mu
	ended   error           // why the link accepts no more commands; guarded by mu
	last    command.Suspect // launched last, for errors; guarded by mu
	work    chan struct{}   // capacity 1: queue is not empty, or ended is set
	closing sync.WaitGroup  // reader and writer
	faulted sync.Once       // a fault is explained

	opening sync.Mutex
	nccl    string // the library that the worker has opened, "" for none; guarded by opening
}

// reply is an answer, or the reason why there is none.
type reply struct {
	command.Answer
	err error
}

// waiter is a caller, and how many commands without an answer were queued before its own.
type waiter struct {
	answer chan<- reply
	posted uint64
}

// startTimeout limits the time until a worker's hello: a driver that starts cold
// takes seconds.
const startTimeout = 60 * time.Second

// dial starts a worker on an arena: commands, answers and life are a pipe each.
func dial(path string, args []string, shared *arena, patience time.Duration) (*link, error) {
	outs, ins, err := pipes(3)
	if err != nil {
		return nil, fmt.Errorf("cuda: start worker: %w", err)
	}
	l := &link{patience: patience, commands: ins[0], life: ins[2], output: &tail{}, done: make(chan struct{}), work: make(chan struct{}, 1)}
	l.space.L = &l.mu
	l.process = exec.Command(path, args...)
	l.process.ExtraFiles = []*os.File{outs[0], ins[1], shared.file, outs[2]}
	l.process.Stdout, l.process.Stderr = l.output, l.output
	l.process.WaitDelay = time.Second
	// With lazy loading, the driver would load a function during a measurement.
	l.process.Env = append(os.Environ(), "CUDA_MODULE_LOADING=EAGER")
	if _, set := os.LookupEnv(nvlsVariable); !set {
		l.process.Env = append(l.process.Env, nvlsVariable+"=0")
	}
	if err := l.process.Start(); err != nil {
		closeAll(append(outs, ins...))
		return nil, fmt.Errorf("cuda: start worker: %w", buildcache.StartError(path, err))
	}
	closeAll([]*os.File{outs[0], ins[1], outs[2]}) // the worker has them
	return l, l.greet(outs[1])
}

// pipes makes n pipes.
func pipes(n int) (outs, ins []*os.File, err error) {
	for range n {
		out, in, err := os.Pipe()
		if err != nil {
			closeAll(append(outs, ins...))
			return nil, nil, err
		}
		outs, ins = append(outs, out), append(ins, in)
	}
	return outs, ins, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// greet waits for the worker's hello and starts the goroutines.
func (l *link) greet(answers *os.File) error {
	timer := time.AfterFunc(startTimeout, func() { l.process.Process.Kill() })
	r := command.NewReader(answers)
	var err error
	l.hello, err = r.Hello()
	if !timer.Stop() && err != nil {
		err = fmt.Errorf("no answer within %v", startTimeout)
	}
	if errors.Is(err, io.EOF) { // cu ends a process in which CUDA does not start
		err = errNoDriver
	}
	if err == nil {
		err = checkHello(l.hello)
	}
	if err == nil {
		l.output.pass()
	}
	l.closing.Add(2)
	go l.write()
	go l.read(r, answers)
	if err != nil {
		l.end(errEnded)
		<-l.done
		return fmt.Errorf("cuda: start worker: %w%s", err, l.output.suffix())
	}
	return nil
}

// post queues a command that has no answer.
func (l *link) post(c command.Command) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(0, c)
}

// launch is post for a launch of the named entry.
func (l *link) launch(c *command.Launch, entry string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = command.Suspect{Entry: entry, Grid: c.Grid, Block: c.Block, Shared: c.Shared}
	return l.add(0, c)
}

// note remembers a launch that is not submitted by the method launch.
func (l *link) note(entry string, c *command.Launch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = command.Suspect{Entry: entry, Grid: c.Grid, Block: c.Block, Shared: c.Shared}
}

// add queues a command; l.mu is held.
func (l *link) add(number uint32, c command.Command) error {
	for len(l.queue) > backlog && l.ended == nil {
		l.space.Wait()
	}
	if l.ended != nil {
		return l.ended
	}
	l.queue = command.Append(l.queue, number, c)
	if number == 0 {
		if l.posted++; !l.writing {
			l.wake()
		}
	}
	return nil
}

// unanswered is the number of commands without an answer that the worker may not have
// executed: those queued after the last command that it has answered.
func (l *link) unanswered() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.posted - l.reached
}

func (l *link) wake() {
	select {
	case l.work <- struct{}{}:
	default:
	}
}

// call queues a command and waits for its answer. The error says that the worker
// has ended; the answer holds the command's own error.
func (l *link) call(c command.Command) (command.Answer, error) {
	r := <-l.ask(c)
	return r.Answer, r.err
}

// ask queues a command. The channel receives its answer, or the reason why there
// is none.
func (l *link) ask(c command.Command) <-chan reply {
	answer := make(chan reply, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number = max(1, l.number+1)
	if err := l.add(l.number, c); err != nil {
		answer <- reply{err: err}
		return answer
	}
	l.waiting = append(l.waiting, waiter{answer, l.posted})
	l.flush() // the caller waits: a hand-over to the writer would take longer
	return answer
}

// write sends the queued commands until the worker ends.
func (l *link) write() {
	defer l.closing.Done()
	for range l.work {
		l.mu.Lock()
		l.flush()
		ended := l.ended != nil
		l.mu.Unlock()
		if ended {
			return
		}
	}
}

// flush writes the queue. If another goroutine is writing already, flush returns,
// and that goroutine also writes the commands queued since. l.mu is held, but not
// during the write.
func (l *link) flush() {
	for !l.writing && len(l.queue) > 0 && l.ended == nil {
		l.writing = true
		sending := l.queue
		l.queue = l.spare[:0]
		l.mu.Unlock()
		_, err := l.commands.Write(sending)
		l.mu.Lock()
		l.spare, l.writing = sending, false
		l.space.Broadcast()
		if err != nil {
			return // the reader finds out why
		}
	}
}

// read delivers the answers until the worker ends, then reaps it.
func (l *link) read(r *command.Reader, answers *os.File) {
	defer l.closing.Done()
	var err error
	for err == nil {
		var a command.Answer
		if a, err = r.Answer(); err == nil {
			err = l.deliver(a)
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		l.end(fmt.Errorf("cuda: %w", err))
	}
	answers.Close()
	timer := time.AfterFunc(l.patience, func() { l.process.Process.Kill() }) // it may have closed its side only
	state := l.process.Wait()
	timer.Stop()
	l.end(l.died(state))
	l.commands.Close()
	l.life.Close()
	close(l.done)
}

// patience is how long a worker may take to end by itself.
const patience = 2 * time.Second

// finish lets the worker end by itself, because a tool that it runs under writes
// its report then.
func (l *link) finish(reason error) {
	l.mu.Lock()
	if l.ended == nil {
		l.ended = reason
		for _, w := range l.waiting {
			w.answer <- reply{err: reason}
		}
		l.waiting = nil
	}
	l.mu.Unlock()
	l.space.Broadcast()
	l.wake()
	l.commands.Close()
	select {
	case <-l.done:
	case <-time.After(l.patience):
		l.process.Process.Kill()
		<-l.done
	}
	l.closing.Wait()
}

func (l *link) deliver(a command.Answer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		return fmt.Errorf("answer %d to no command", a.Number)
	}
	l.waiting[0].answer <- reply{Answer: a}
	l.reached, l.waiting = l.waiting[0].posted, l.waiting[1:]
	return nil
}

// end rejects further commands and kills the worker; waiting callers receive the
// reason. Only the first reason counts.
func (l *link) end(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return
	}
	l.ended = reason
	for _, w := range l.waiting {
		w.answer <- reply{err: reason}
	}
	l.waiting = nil
	l.space.Broadcast()
	l.wake()
	l.process.Process.Kill()
}

// err is the reason why the worker has ended; nil while it runs.
func (l *link) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// tail receives the worker's output. Until the hello it keeps the output for an
// error; after it the output is printed by device code, and tail passes it on.
type tail struct {
	mu     sync.Mutex
	kept   []byte // the last of it; guarded by mu
	passed bool   // guarded by mu
}

const tailBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	if t.passed {
		os.Stdout.Write(b)
	}
	return len(b), nil
}

func (t *tail) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed, t.kept = true, nil
}

// suffix is the last line of the output, which ends an error.
func (t *tail) suffix() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line := lastLine(string(t.kept)); line != "" {
		return ": " + line
	}
	return ""
}
