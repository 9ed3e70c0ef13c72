package main

import (
	"io"
	"sync"
	"time"
)

// console writes to standard output or standard error in the background, so that a
// reader that stops reading delays neither a cell nor an interrupt. Unread text stays
// in memory; the executed notebook holds the same text.
type console struct {
	w io.Writer // used by the goroutine of newConsole only

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // signalled when waiting or failed changes, or a write has ended
	waiting []byte     // not written yet
	writing bool
	failed  error // the error that ended the writing
}

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	c.changed.L = &c.mu
	go c.serve()
	return c
}

// Write queues text for writing.
func (c *console) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.waiting = append(c.waiting, text...)
		c.changed.Broadcast()
	}
	return len(text), nil
}

// serve writes queued text until a write fails.
func (c *console) serve() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.failed == nil {
		if len(c.waiting) == 0 {
			c.changed.Wait()
			continue
		}
		text := c.waiting
		c.waiting, c.writing = nil, true
		c.mu.Unlock()
		_, err := c.w.Write(text)
		c.mu.Lock()
		c.writing, c.failed = false, err
		c.changed.Broadcast()
	}
	c.waiting = nil
}

// flush waits until all text is written, at most until enough closes, and reports
// whether all was written.
func (c *console) flush(enough <-chan struct{}) bool {
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

// after returns a channel that closes a given time after first closes, or after the
// call if first is nil.
func after(first <-chan struct{}, wait time.Duration) <-chan struct{} {
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
