// Package console writes to standard output or standard error in the background, so
// that a reader that stops reading delays nothing. Its main type is Writer. The kernel's
// log and the warpbook command use it.
package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Writer is an io.Writer that does not block. Text that is not yet written stays in
// memory, up to a bound.
type Writer struct {
	w    io.Writer // used by the goroutine of New only
	most int       // bytes of waiting; 0: no bound

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // signalled when waiting or failed changes, or a write has ended
	waiting []byte     // not written yet
	left    int        // bytes left out at the bound since the last that waited
	writing bool
	failed  error // the error that ended the writing
}

// New returns a Writer to w that holds at most so many bytes, 0 for any number. Further
// text is left out, and a line says how much.
func New(w io.Writer, most int) *Writer {
	c := &Writer{w: w, most: most}
	c.changed.L = &c.mu
	go c.serve()
	return c
}

// Write queues text for writing.
func (c *Writer) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
	case c.most > 0 && len(c.waiting)+len(text) > c.most:
		c.left += len(text)
	default:
		c.waiting = append(c.noteLeft(), text...)
		c.changed.Broadcast()
	}
	return len(text), nil
}

// noteLeft returns the waiting text and a line about text that was left out after it.
func (c *Writer) noteLeft() []byte {
	text, left := c.waiting, c.left
	if c.left = 0; left == 0 {
		return text
	}
	return fmt.Appendf(text, "%d bytes are left out, because this text was not read\n", left)
}

// serve writes queued text until a write fails.
func (c *Writer) serve() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.failed == nil {
		text := c.noteLeft()
		if len(text) == 0 {
			c.changed.Wait()
			continue
		}
		c.waiting, c.writing = nil, true
		c.mu.Unlock()
		_, err := c.w.Write(text)
		c.mu.Lock()
		c.writing, c.failed = false, err
		c.changed.Broadcast()
	}
	c.waiting = nil
}

// Flush waits until all text is written, at most until enough closes, and reports
// whether all was written.
func (c *Writer) Flush(enough <-chan struct{}) bool {
	written := make(chan bool, 1)
	go func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for c.failed == nil && (c.writing || len(c.waiting) > 0) {
			c.changed.Wait()
		}
		written <- c.failed == nil
	}()
	select {
	case ok := <-written:
		return ok
	case <-enough:
		return false
	}
}

// After returns a channel that closes a given time after first closes, or after the
// call if first is nil.
func After(first <-chan struct{}, wait time.Duration) <-chan struct{} {
	passed := make(chan struct{})
	go func() {
		if first != nil {
			<-first
		}
		time.Sleep(wait)
		close(passed)
	}()
	return passed
}
