package cellproc

import (
	"os"
	"sync"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/nonblock"
)

// requests is the pipe to the program. The goroutine that finds the pipe idle writes
// its own request, and those that other goroutines queue meanwhile: waking a writer
// goroutine takes longer than writing. Requests are written in the order of the post
// calls, so that none overtakes an interrupt.
type requests struct {
	file *os.File

	mu      sync.Mutex // guards the fields below
	waiting []cellproto.Request
	held    bool // until the program has said its version
	writing bool // a goroutine is writing the queue
}

// post writes a request, or queues it for the goroutine that is writing.
func (q *requests) post(r cellproto.Request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	return q.write()
}

// release writes what was posted to a program that had not said its version.
func (q *requests) release() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = false
	return q.write()
}

// write writes the queue, unless it is held or another goroutine does. The caller holds mu,
// which is free while a request is written.
func (q *requests) write() (err error) {
	if q.held || q.writing {
		return nil
	}
	q.writing = true
	for len(q.waiting) > 0 && err == nil {
		batch := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		for _, r := range batch {
			if err == nil {
				err = cellproto.Write(nonblock.New(q.file), r)
			}
		}
		q.mu.Lock()
	}
	q.writing, q.waiting = false, nil
	return err
}
