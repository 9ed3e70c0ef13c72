package cellproc

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/leaf/release"
	"warpbook/kernel/nonblock"
)

// eventGrace is how long events are still read after the program has ended: a
// subprocess may hold the pipe open forever.
const eventGrace = 100 * time.Millisecond

// exitGrace is how long a program may take to end after it has closed a pipe. On a busy
// machine the exit of one whose stack holds 1 GB took more than 100 ms.
const exitGrace = 3 * time.Second

// keptOutputs is the number of later requests during which a goroutine's output still
// counts as its cell's.
const keptOutputs = 500

// call is a request that waits for its answer.
type call struct {
	id     uint64
	sink   func(cellproto.Event) // nil: the request has no output
	begun  bool                  // sink has received Begun; guarded by the child's mu
	answer func(cellproto.Event) // receives the only answer; called without mu
}

// take passes an event to the sink, after Begun. Either the goroutine that made the
// request or the first event of the cell delivers Begun.
func (c *call) take(e cellproto.Event) {
	if !c.begun {
		c.begun = true
		c.sink(cellproto.Event{ID: c.id, Type: cellproto.Begun})
	}
	if e.Type != cellproto.Begun {
		c.sink(e)
	}
}

// child is one run of the cells program. Five goroutines serve it: read owns the
// event pipe, each output has one, and supervise waits for the process and
// releases everything.
type child struct {
	config   *Config
	command  *exec.Cmd
	requests requests // its file is closed by hangUp and supervise
	oomKills int      // the result of oomKills when the program started
	oomKnown bool
	events   *os.File // read by read only; closed by supervise
	stdout   *output
	stderr   *output
	crash    *output // a copy of the text that the Go runtime writes to stderr as it ends the program

	interrupts sync.Map // ids of unanswered interrupts, to their timers

	asked  atomic.Bool // Kill or Close has asked for the end
	stop   sync.Once
	ending chan struct{} // closed when no further request may be sent
	exited chan struct{} // closed when the process has ended
	read   chan struct{} // closed when readEvents has returned
	done   chan struct{} // closed by supervise when everything is released

	// mu is held while a sink runs, so that events arrive one at a time. It guards the
	// fields below, and both outputs.
	mu        sync.Mutex
	pending   map[uint64]*call
	outputs   map[uint64]*cellOutput // of the most recent executes, for late output
	owner     uint64                 // the execute that owns the pipes, or owned them last
	last      uint64                 // the execute that output on the pipes counts as
	ready     bool
	held      []byte    // text on stderr that may be the beginning of a dump
	heldSince time.Time // when the first byte of held arrived
	dying     bool      // the runtime is writing the reason for which it ends the program
	dump      []byte    // the beginning of the dump
	saved     string    // the file with the whole dump
	over      bool      // all calls have been answered; further calls are rejected
	protocol  error     // the error that ended the reading of the event stream
	foreign   string    // the version of a program that is not of this process's
	useless   string    // the reason, if this process killed the program because it closed a pipe
	notice    string    // for the next cell: how the previous program ended
	farewell  string    // the notice for the next program's first cell; read after done
}

// startChild starts the program in a process group of its own, with requests on
// descriptor 3, events on descriptor 4, the runtime's crash output on descriptor 5, and
// pipes as stdout and stderr.
func startChild(config *Config) (*child, error) {
	c := &child{
		config: config, ending: make(chan struct{}), exited: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
		pending: map[uint64]*call{}, outputs: map[uint64]*cellOutput{},
	}
	c.requests.held = true
	theirs, err := c.makePipes()
	if err != nil {
		return nil, fmt.Errorf("cellproc: start %s: %w", config.Program, err)
	}
	c.command = exec.Command(config.Program)
	c.command.Dir, c.command.Env = config.Dir, config.environment()
	c.command.ExtraFiles = []*os.File{theirs[0], theirs[1], theirs[4]}
	c.command.Stdout, c.command.Stderr = theirs[2], theirs[3]
	c.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.oomKills, c.oomKnown = oomKills()
	err = c.command.Start()
	closeAll(theirs...)
	if err != nil {
		c.requests.file.Close()
		c.closeRead()
		return nil, fmt.Errorf("cellproc: start %s: %w", config.Program, err)
	}
	go c.readEvents()
	go c.stdout.read()
	go c.stderr.read()
	go c.crash.read()
	go c.supervise()
	return c, nil
}

// makePipes makes the pipes, and returns the program's ends: requests, events, stdout,
// stderr and crash.
func (c *child) makePipes() (theirs []*os.File, err error) {
	var ours []io.Closer
	defer func() {
		if err != nil {
			closeAll(ours...)
			closeAll(theirs...)
		}
	}()
	requests, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.requests.file, ours, theirs = w, append(ours, w), append(theirs, requests)
	r, events, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	c.events, ours, theirs = r, append(ours, r), append(theirs, events)
	nonblock.Grow(r, eventsPipe)
	c.stdout, c.stderr, c.crash = newOutput(c, "stdout"), newOutput(c, "stderr"), newOutput(c, "crash")
	for _, o := range []*output{c.stdout, c.stderr, c.crash} {
		r, w, err := nonblock.NewPipe()
		if err != nil {
			return theirs, err
		}
		o.pipe, ours, theirs = r, append(ours, r), append(theirs, w)
	}
	nonblock.Grow(c.stdout.pipe, stdoutPipe)
	return theirs, nil
}

// closeRead closes the pipes that the program writes to.
func (c *child) closeRead() {
	closeAll[io.Closer](c.events, c.stdout.pipe, c.stderr.pipe, c.crash.pipe)
}

func closeAll[C io.Closer](ends ...C) {
	for _, e := range ends {
		e.Close()
	}
}

// send registers call and sends its request, unless the program has already ended.
func (c *child) send(r cellproto.Request, call *call) bool {
	if !c.register(&r, call) {
		return false
	}
	c.post(r)
	if call.sink != nil {
		c.mu.Lock()
		call.take(cellproto.Event{Type: cellproto.Begun})
		c.mu.Unlock()
	}
	return true
}

// register records a request, and gives a cell the pipes if no other cell has them.
func (c *child) register(r *cellproto.Request, call *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.pending[r.ID] = call
	if r.Type == cellproto.Execute {
		c.outputs[r.ID] = c.newOutput(r.Cell)
		if old := r.ID - keptOutputs; r.ID > keptOutputs && c.pending[old] == nil {
			delete(c.outputs, old)
		}
		if r.Pipes = c.pending[c.owner] == nil; r.Pipes {
			c.owner, c.last = r.ID, r.ID
		}
		if c.notice != "" {
			call.take(cellproto.Event{ID: r.ID, Type: cellproto.Stream, Name: "stderr", Text: c.notice})
			c.notice = ""
		}
	}
	return true
}

// post sends a request. If the program is ending, supervise answers the request.
func (c *child) post(r cellproto.Request) {
	if c.isEnding() {
		return
	}
	c.written(c.requests.post(r))
}

// open sends the requests that waited for the program's version.
func (c *child) open() { c.written(c.requests.release()) }

// written ends a program that reads no requests.
func (c *child) written(err error) {
	if err != nil && !c.isEnding() {
		c.config.Logf("cellproc: write requests: %v", err)
		go c.discard("closed its requests", exitGrace)
	}
}

// discard kills a program that has closed a pipe, unless the program closed it because
// it is ending, which takes at most grace.
func (c *child) discard(useless string, grace time.Duration) {
	select {
	case <-c.exited:
		return
	case <-time.After(grace):
	}
	c.mu.Lock()
	if !c.asked.Load() {
		c.useless = useless
	}
	c.mu.Unlock()
	c.command.Process.Kill()
}

func (c *child) isEnding() bool {
	select {
	case <-c.ending:
		return true
	default:
		return false
	}
}

// forget drops a call: a later answer is ignored.
func (c *child) forget(call *call) {
	c.mu.Lock()
	delete(c.pending, call.id)
	c.mu.Unlock()
}

// end makes the child reject further requests; asked reports whether this process wants
// the end.
func (c *child) end(asked bool) {
	c.stop.Do(func() {
		c.asked.Store(asked)
		close(c.ending)
	})
}

// kill ends the process; supervise ends the rest of its group.
func (c *child) kill() {
	c.end(true)
	c.command.Process.Kill()
}

// hangUp closes the request pipe, upon which the program ends.
func (c *child) hangUp() {
	c.end(true)
	c.requests.file.Close()
}

// readEvents delivers events until the program closes its end of the pipe. A violation
// of the protocol kills the program, as does another version: an upgrade replaces the
// program while the kernel runs, which starts it again after an end.
// ourName is the name of this process's build. A test has another one.
var ourName = release.Name

func (c *child) readEvents() {
	defer close(c.read)
	r := bufio.NewReaderSize(nonblock.New(c.events), 64<<10)
	for {
		var e cellproto.Event
		if err := cellproto.Read(r, &e); err != nil {
			grace := exitGrace
			if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
				c.mu.Lock()
				c.protocol = err
				c.mu.Unlock()
				grace = eventGrace
			}
			c.discard("closed its events", grace)
			return
		}
		if e.Type == cellproto.Ready && !release.Same(e.Text, ourName()) {
			c.mu.Lock()
			c.foreign = cmp.Or(e.Text, "an earlier version")
			c.mu.Unlock()
			c.discard("", 0)
			return
		}
		if e.Type == cellproto.Ready {
			go c.open() // the write may wait for the program
		}
		c.mu.Lock()
		call := c.receive(e)
		c.mu.Unlock()
		if e.Fence {
			c.post(cellproto.Request{ID: e.ID, Type: cellproto.Passed}) // in a goroutine of its own: the write may wait for the program
		}
		if call != nil {
			call.answer(e)
		}
	}
}

// receive handles an event and returns the call that it answers. Output written before
// the event is delivered first. The caller holds mu.
func (c *child) receive(e cellproto.Event) (answered *call) {
	c.stdout.drain()
	c.stderr.drain()
	if e.Type == cellproto.Done || e.Fence {
		c.release() // the program lives, and its earlier output comes before the event
	}
	switch e.Type {
	case cellproto.Ready:
		c.ready = true
	case cellproto.Done:
		call := c.pending[e.ID]
		if call == nil {
			c.answered(e.ID) // an interrupt; otherwise a forgotten call
			return nil
		}
		if e.ID == c.last {
			c.stdout.flush()
			c.stderr.flush()
		}
		c.conclude(call)
		c.outputOf(e.ID).close()
		c.inherit()
		return call
	default:
		c.deliver(e)
	}
	return nil
}

// conclude ends a call that is about to be answered. The caller holds mu.
func (c *child) conclude(call *call) {
	delete(c.pending, call.id)
	if call.sink != nil {
		call.take(cellproto.Event{Type: cellproto.Begun}) // the requesting goroutine may not have delivered Begun yet
	}
}

// inherit assigns the pipes to another running cell after their owner has ended. The
// caller holds mu.
func (c *child) inherit() {
	if c.pending[c.last] != nil {
		return
	}
	for id, call := range c.pending {
		if call.sink != nil {
			c.last = id
			return
		}
	}
}

// hand passes an event to its request, or to Late after that request was answered. The
// caller holds mu.
func (c *child) hand(e cellproto.Event) {
	if call := c.pending[e.ID]; call != nil && call.sink != nil {
		call.take(e)
		return
	}
	c.config.Late(c.outputOf(e.ID).number, e)
}

// supervise waits for the process, reads its remaining output, answers the pending
// requests and releases everything.
func (c *child) supervise() {
	c.command.Wait() // its error is the exit status, in ProcessState
	close(c.exited)
	c.end(false)
	// Kill the group only now: until the process is reaped, its number certainly names
	// its group, and just after no other process can have received the number.
	syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
	c.events.SetReadDeadline(time.Now().Add(eventGrace))
	<-c.read
	c.requests.file.Close()

	c.mu.Lock()
	c.stdout.drain()
	c.stderr.drain()
	c.release()
	c.stdout.flush()
	c.stderr.flush()
	answer := c.answerAll()
	c.mu.Unlock()
	answer()

	c.closeRead()
	<-c.stdout.done
	<-c.stderr.done
	<-c.crash.done
	close(c.done)
}

// answerAll returns a function that answers every waiting request with how the program
// ended. If none waits, the next cell reports it, unless this process asked for the
// end. The caller holds mu.
func (c *child) answerAll() (answer func()) {
	c.over = true
	reason := c.reason(c.command.ProcessState)
	if c.last != 0 && c.pending[c.last] == nil && !c.asked.Load() {
		c.farewell = "warpbook: after the last cell " + reason.Value + "\n"
	}
	for _, output := range c.outputs {
		output.close()
	}
	waiting := slices.Collect(maps.Values(c.pending))
	for _, call := range waiting {
		c.conclude(call)
	}
	return func() {
		for _, call := range waiting {
			call.answer(cellproto.Event{ID: call.id, Type: cellproto.Done, Error: reason})
		}
	}
}
