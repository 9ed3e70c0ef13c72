package server

import "sync"

// queued is how many requests wait for a dispatcher before their senders do.
const queued = 1024

// queue holds the requests that wait for a dispatcher. Any goroutine may call
// its methods.
type queue struct {
	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	calls   []*call
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds a request, which may wait. It returns false once the queue is
// closed.
func (q *queue) push(c *call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) >= queued && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	q.calls = append(q.calls, c)
	q.changed.Broadcast()
	return true
}

// pop waits for the oldest request. It returns nil once the queue is closed.
func (q *queue) pop() *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) == 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return nil
	}
	c := q.calls[0]
	q.calls[0] = nil
	q.calls = q.calls[1:]
	q.changed.Broadcast()
	return c
}

// dispatch has the requests served, until the queue is closed.
func (q *queue) dispatch(serve func(*call)) {
	for c := q.pop(); c != nil; c = q.pop() {
		serve(c)
	}
}

// close ends the queue and returns what was left in it.
func (q *queue) close() []*call {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.calls
	q.calls, q.closed = nil, true
	q.changed.Broadcast()
	return left
}
