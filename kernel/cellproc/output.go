package cellproc

import (
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/nonblock"
)

// drainBytes bounds one drain, so that a goroutine that writes without end cannot delay
// an event. No pipe holds more, so everything written before the event is read.
const drainBytes = 1 << 20

// A program that prints line by line is read a little later each time, so that many
// lines make few events; the first line is read at once.
const (
	fewBytes = 8 << 10
	gather   = time.Millisecond
)

// The pipes of stdout and events and the buffer of stdout are large, so that much output
// makes few events: the program goes on while the kernel encodes the last one. Linux gives
// a user without privileges such pipes for about 50 kernels; further ones stay small.
const (
	stdoutPipe   = 1 << 20
	eventsPipe   = 256 << 10
	stdoutBuffer = 768 << 10 // the message of text in lines has less than 1 MB
	otherBuffer  = 64 << 10
)

// output is the program's stdout, stderr or crash pipe. Its goroutine reads as data
// arrives; drain reads the data that the pipe holds now. Both hold the child's mu while
// they read and deliver, so events keep the order of the pipe.
type output struct {
	child *child
	name  string
	pipe  *nonblock.Pipe
	done  chan struct{} // closed when read has returned

	// Guarded by child.mu.
	buffer []byte
	part   int // bytes of an incomplete UTF-8 sequence at the start of buffer
	words  lastWords
	said   []byte // the beginning of the text on crash
}

func newOutput(c *child, name string) *output {
	size := otherBuffer
	if name == "stdout" {
		size = stdoutBuffer
	}
	return &output{child: c, name: name, done: make(chan struct{}), buffer: make([]byte, size)}
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
				time.Sleep(gather) // does not delay a drain
			}
		}
	})
}

// drain delivers the data that the pipe holds now. The caller holds child.mu.
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

// once reads once without waiting and delivers the data, except an incomplete UTF-8
// sequence at its end.
func (o *output) once(fd int) (int, error) {
	n, err := nonblock.Read(fd, o.buffer[o.part:])
	if n <= 0 || err != nil {
		return n, err
	}
	if o.name == "stderr" {
		o.words.hear(o.buffer[o.part : o.part+n])
	}
	data := o.buffer[:o.part+n]
	whole := len(data) - cellproto.Incomplete(data)
	o.deliver(data[:whole])
	o.part = copy(o.buffer, data[whole:])
	return n, nil
}

// flush delivers an incomplete sequence at the end of the stream. The caller holds
// child.mu.
func (o *output) flush() {
	o.deliver(o.buffer[:o.part])
	o.part = 0
}

func (o *output) deliver(data []byte) {
	switch o {
	case o.child.crash: // stderr brings the same text, after the lines printed before it
		o.said = append(o.said, data[:min(len(data), lineBytes-len(o.said))]...)
		return
	case o.child.stderr:
		data = o.child.withoutDump(data)
	}
	o.show(data)
}

// show delivers text to the user. The caller holds child.mu.
func (o *output) show(data []byte) {
	if len(data) == 0 {
		return
	}
	text := strings.ToValidUTF8(string(data), string(utf8.RuneError))
	o.child.deliver(cellproto.Event{ID: o.child.last, Type: cellproto.Stream, Name: o.name, Text: text})
}
