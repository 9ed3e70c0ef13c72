package session

import (
	"bufio"
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

	"warpbook/kernel/frame"
	"warpbook/kernel/nonblock"
)

// eventGrace is how long events are still read after the program has ended: a
// subprocess may hold the pipe open for ever.
const eventGrace = 100 * time.Millisecond

// keptOutputs is how many requests later the output of a goroutine still counts
// as its cell's.
const keptOutputs = 500

// call is a request that waits for its answer.
type call struct {
	id     uint64
	sink   func(frame.Event) // nil: the request has no output
	begun  bool              // sink has got Begun; guarded by the child's mu
	answer func(frame.Event) // takes the one answer; not called with mu held
}

// take hands an event to the sink, as the first of all Begun: whoever comes first,
// the one that has made the request or an event of it.
func (c *call) take(e frame.Event) {
	if !c.begun {
		c.begun = true
		c.sink(frame.Event{ID: c.id, Type: frame.Begun})
	}
	if e.Type != frame.Begun {
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
	events   *os.File // read by read only; closed by supervise
	stdout   *output
	stderr   *output
	crash    *output // what the Go runtime writes to stderr too as it ends the program

	asked  atomic.Bool // the end was asked for, by Kill or Close
	stop   sync.Once
	ending chan struct{} // closed once no request should be sent any more
	read   chan struct{} // closed when readEvents has returned
	done   chan struct{} // closed by supervise when all is released

	// mu is held while a sink runs, so that events arrive one at a time. It
	// guards what follows, and both outputs.
	mu       sync.Mutex
	pending  map[uint64]*call
	outputs  map[uint64]*cellOutput // of the last executes, for late output
	owner    uint64                 // the execute that the pipes belong to, or belonged to last
	last     uint64                 // the one that what comes through them counts as
	ready    bool
	dying    bool   // the runtime writes why it ends the program
	dump     []byte // the beginning of that
	saved    string // the file that has all of it
	over     bool   // all calls have been answered, no more are taken
	protocol error  // why the event stream could not be read on
	notice   string // to be told to the next cell: how the program before ended
	farewell string // what the next program's notice will be; read after done
}

// startChild starts the program with requests on descriptor 3, events on
// descriptor 4, the runtime's last words on descriptor 5, and pipes as stdout
// and stderr, in a process group of its own.
func startChild(config *Config) (*child, error) {
	c := &child{
		config: config, ending: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
		pending: map[uint64]*call{}, outputs: map[uint64]*cellOutput{},
	}
	theirs, err := c.makePipes()
	if err != nil {
		return nil, fmt.Errorf("session: start %s: %w", config.Program, err)
	}
	c.command = exec.Command(config.Program)
	c.command.Dir, c.command.Env = config.Dir, config.Env
	c.command.ExtraFiles = []*os.File{theirs[0], theirs[1], theirs[4]}
	c.command.Stdout, c.command.Stderr = theirs[2], theirs[3]
	c.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = c.command.Start()
	closeAll(theirs...)
	if err != nil {
		c.requests.file.Close()
		c.closeRead()
		return nil, fmt.Errorf("session: start %s: %w", config.Program, err)
	}
	go c.readEvents()
	go c.stdout.read()
	go c.stderr.read()
	go c.crash.read()
	go c.supervise()
	return c, nil
}

// makePipes makes the pipes, and returns the program's ends: of requests, events,
// stdout, stderr and crash.
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
	c.stdout, c.stderr, c.crash = newOutput(c, "stdout"), newOutput(c, "stderr"), newOutput(c, "crash")
	for _, o := range []*output{c.stdout, c.stderr, c.crash} {
		r, w, err := nonblock.NewPipe()
		if err != nil {
			return theirs, err
		}
		o.pipe, ours, theirs = r, append(ours, r), append(theirs, w)
	}
	return theirs, nil
}

// closeRead closes what the program writes to.
func (c *child) closeRead() {
	closeAll[io.Closer](c.events, c.stdout.pipe, c.stderr.pipe, c.crash.pipe)
}

func closeAll[C io.Closer](ends ...C) {
	for _, e := range ends {
		e.Close()
	}
}

// send registers call and makes its request, unless the program has ended before.
func (c *child) send(r frame.Request, call *call) bool {
	if !c.register(&r, call) {
		return false
	}
	c.post(r)
	if call.sink != nil {
		c.mu.Lock()
		call.take(frame.Event{Type: frame.Begun})
		c.mu.Unlock()
	}
	return true
}

// register takes note of a request, and gives a cell the pipes if no other has
// them.
func (c *child) register(r *frame.Request, call *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.pending[r.ID] = call
	if r.Type == frame.Execute {
		c.outputs[r.ID] = &cellOutput{number: r.Cell}
		if old := r.ID - keptOutputs; r.ID > keptOutputs && c.pending[old] == nil {
			delete(c.outputs, old)
		}
		if r.Pipes = c.pending[c.owner] == nil; r.Pipes {
			c.owner, c.last = r.ID, r.ID
		}
		if c.notice != "" {
			call.take(frame.Event{ID: r.ID, Type: frame.Stream, Name: "stderr", Text: c.notice})
			c.notice = ""
		}
	}
	return true
}

// post makes a request. Once the program is about to end, supervise answers.
func (c *child) post(r frame.Request) {
	if c.isEnding() {
		return
	}
	if err := c.requests.post(r); err != nil && !c.isEnding() {
		c.config.Logf("session: write %s: %v", r.Type, err)
		c.command.Process.Kill() // it reads no more, so it is of no use
	}
}

func (c *child) isEnding() bool {
	select {
	case <-c.ending:
		return true
	default:
		return false
	}
}

// forget drops a call: its answer, if it still comes, is ignored.
func (c *child) forget(call *call) {
	c.mu.Lock()
	delete(c.pending, call.id)
	c.mu.Unlock()
}

// end stops the taking of requests; asked says whether this process wants it.
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

// hangUp closes the request pipe, at which the program ends.
func (c *child) hangUp() {
	c.end(true)
	c.requests.file.Close()
}

// readEvents delivers events until the program closes its end or breaks the
// protocol, which ends it.
func (c *child) readEvents() {
	defer close(c.read)
	r := bufio.NewReaderSize(nonblock.New(c.events), 64<<10)
	for {
		var e frame.Event
		if err := frame.Read(r, &e); err != nil {
			if err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) {
				c.mu.Lock()
				c.protocol = err
				c.mu.Unlock()
			}
			c.command.Process.Kill()
			return
		}
		c.mu.Lock()
		call := c.receive(e)
		c.mu.Unlock()
		if call != nil {
			call.answer(e)
		}
	}
}

// receive takes an event, with mu held, and returns the call that it answers. What
// the program had written before it goes first.
func (c *child) receive(e frame.Event) (answered *call) {
	c.stdout.drain()
	c.stderr.drain()
	switch e.Type {
	case frame.Ready:
		c.ready = true
	case frame.Done:
		call := c.pending[e.ID]
		if call == nil {
			return nil // of an interrupt, or forgotten
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
		if e.Fence {
			c.post(frame.Request{ID: e.ID, Type: frame.Passed})
		}
	}
	return nil
}

// conclude ends a call that is about to be answered. The caller holds mu.
func (c *child) conclude(call *call) {
	delete(c.pending, call.id)
	if call.sink != nil {
		call.take(frame.Event{Type: frame.Begun}) // who made it may not have come so far
	}
}

// inherit has what comes through the pipes count as another running cell's once
// their owner has ended. The caller holds mu.
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

// hand hands an event to its request, or to Late when that has been answered.
// The caller holds mu.
func (c *child) hand(e frame.Event) {
	if call := c.pending[e.ID]; call != nil && call.sink != nil {
		call.take(e)
		return
	}
	c.config.Late(c.outputOf(e.ID).number, e)
}

// supervise waits for the process, reads what it left behind, answers what is
// pending and releases everything.
func (c *child) supervise() {
	c.command.Wait() // its error is the exit status, in ProcessState
	c.end(false)
	// Only now: until it is reaped, its number is that of its group for sure;
	// just after, nobody else can have got it.
	syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
	c.events.SetReadDeadline(time.Now().Add(eventGrace))
	<-c.read
	c.requests.file.Close()

	c.mu.Lock()
	c.stdout.drain()
	c.stderr.drain()
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

// answerAll returns what tells every waiting request how the program ended. With
// none, the next cell is told, unless somebody wanted the end. The caller holds mu.
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
			call.answer(frame.Event{ID: call.id, Type: frame.Done, Error: reason})
		}
	}
}
