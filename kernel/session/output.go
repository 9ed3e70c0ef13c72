package session

import (
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"warpbook/kernel/frame"
	"warpbook/kernel/nonblock"
)

// drainBytes bounds one drain, so that a goroutine that writes without end
// cannot hold up an event. No pipe holds more, so what was written before the
// event is read.
const drainBytes = 1 << 20

// A program that prints line by line is read a little later each time, so that
// many lines make few events; the first is read at once.
const (
	fewBytes = 8 << 10
	gather   = time.Millisecond
)

// output is one of the program's stdout, stderr and crash. Its goroutine reads as
// data arrives; drain reads what is there now. Both hold the child's mu while
// they read and deliver, so order is that of the pipe.
type output struct {
	child *child
	name  string
	pipe  *nonblock.Pipe
	done  chan struct{} // closed when read has returned

	// Guarded by child.mu.
	buffer []byte
	part   int // bytes of an incomplete UTF-8 sequence at the start of buffer
	words  lastWords
	said   []byte // how what came on crash begins
}

func newOutput(c *child, name string) *output {
	return &output{child: c, name: name, done: make(chan struct{}), buffer: make([]byte, 64<<10)}
}

// read delivers output as it arrives, until the pipe ends or is closed.
func (o *output) read() {
	defer close(o.done)
	o.pipe.Whenever(func(fd int) (ended bool) {
		for {
			o.child.mu.Lock()
			n, err := o.once(fd)
			o.child.mu.Unlock()
			if err == syscall.EAGAIN {
				return false
			}
			if n <= 0 {
				return true
			}
			if n < fewBytes {
				time.Sleep(gather) // holds up no drain
			}
		}
	})
}

// drain delivers what the pipe holds now. The caller holds child.mu.
func (o *output) drain() {
	o.pipe.Control(func(fd int) {
		for total := 0; total < drainBytes; {
			n, err := o.once(fd)
			if n <= 0 || err != nil {
				return
			}
			total += n
		}
	})
}

// once reads once without waiting and delivers what it got, all but a trailing
// incomplete UTF-8 sequence.
func (o *output) once(fd int) (int, error) {
	n, err := nonblock.Read(fd, o.buffer[o.part:])
	if n <= 0 || err != nil {
		return n, err
	}
	if o.name == "stderr" {
		o.words.hear(o.buffer[o.part : o.part+n])
	}
	data := o.buffer[:o.part+n]
	whole := len(data) - frame.Incomplete(data)
	o.deliver(data[:whole])
	o.part = copy(o.buffer, data[whole:])
	return n, nil
}

// flush delivers a sequence that nothing completed. The caller holds child.mu.
func (o *output) flush() {
	o.deliver(o.buffer[:o.part])
	o.part = 0
}

func (o *output) deliver(data []byte) {
	switch o {
	case o.child.crash: // the same text comes through stderr, with what was said before it
		o.said = append(o.said, data[:min(len(data), lineBytes-len(o.said))]...)
		return
	case o.child.stderr:
		data = o.child.withoutDump(data)
	}
	if len(data) == 0 {
		return
	}
	text := strings.ToValidUTF8(string(data), string(utf8.RuneError))
	o.child.deliver(frame.Event{ID: o.child.last, Type: frame.Stream, Name: o.name, Text: text})
}
