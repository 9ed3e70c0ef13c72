package session

import (
	"os"
	"sync"

	"warpbook/kernel/frame"
	"warpbook/kernel/nonblock"
)

// requests is the pipe to the program. Who has a request writes it, and what
// others add meanwhile: to wake a goroutine for that takes longer than to write.
// Requests go in the order in which they came, so that none overtakes a stop.
type requests struct {
	file *os.File

	mu      sync.Mutex // guards what follows
	waiting []frame.Request
	writing bool // somebody writes what waits
}

// post writes a request, or leaves it to who is writing.
func (q *requests) post(r frame.Request) (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	if q.writing {
		return nil
	}
	q.writing = true
	for len(q.waiting) > 0 && err == nil {
		batch := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		for _, r := range batch {
			if err == nil {
				err = frame.Write(nonblock.New(q.file), r)
			}
		}
		q.mu.Lock()
	}
	q.writing, q.waiting = false, nil
	return err
}
